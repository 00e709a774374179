// SPDX-License-Identifier: Apache-2.0
//
// What a function or a class is to the streams of a device: one row of a model
// file's section `streams`, as data.
#ifndef TENSORSCOPE_MODEL_STREAMMODEL_H
#define TENSORSCOPE_MODEL_STREAMMODEL_H

#include "model/FunctionModel.h"

namespace tensorscope {

enum class StreamRole {
  Other,         ///< no row says anything
  Stream,        ///< a class whose objects name a stream
  Fresh,         ///< gives a stream on which nobody else works
  Default,       ///< gives the default stream
  Current,       ///< gives the stream on which the thread works
  Guard,         ///< a class: the thread works on the stream it is given
  Switch,        ///< from here the thread works on the stream that it is given
  Exchange,      ///< the same; the result is the stream before
  WaitForAll,    ///< waits for all work
  WaitForStream, ///< waits for the work on a stream
  WaitForValue,  ///< waits until a tensor's value can be read
  Order,         ///< makes a stream wait for another
  MayWait,       ///< may do any of that
  Record,        ///< the memory of its object is kept for the stream given
  Copy,          ///< copies a tensor; `non_blocking` says if it waits
  Pin,           ///< the result is in pinned memory
  PinOption,     ///< asks for pinned memory, if its argument is true
  WriteMemory,   ///< the memory that a pointer points to is written
  NoWork,        ///< gives work to no stream
};

struct StreamModel {
  StreamRole Role = StreamRole::Other;
  /// Copy: what is copied. WaitForStream, Switch, Exchange, Record: the
  /// stream. WriteMemory: the pointer.
  int Arg = ThisArg;
};

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_STREAMMODEL_H
