// SPDX-License-Identifier: Apache-2.0
//
// Which modules have parameters, and which members are parameters. One per
// translation unit.
#ifndef TENSORSCOPE_DATAFLOW_MODULEPARAMETERS_H
#define TENSORSCOPE_DATAFLOW_MODULEPARAMETERS_H

#include "model/ApiModel.h"
#include "llvm/ADT/DenseSet.h"

namespace tensorscope {

class ModuleParameters {
public:
  ModuleParameters(ApiModel &Api, const clang::SourceManager &SM)
      : Api(Api), SM(SM) {}

  /// True for a module, a holder, a pointer to one, or a container of them,
  /// that has parameters as far as its class says.
  bool has(clang::QualType T) { return has(T, 0); }
  /// True for the class of a module, library's or user's.
  bool isModule(const clang::CXXRecordDecl *RD) const;
  /// True for a member that a constructor or another member function registers
  /// as a parameter.
  bool isParameter(const clang::FieldDecl *F);

private:
  struct Registered {
    llvm::DenseSet<const clang::FieldDecl *> Parameters;
    bool Any = false;
  };
  bool has(clang::QualType T, unsigned Depth);
  bool recordHas(const clang::CXXRecordDecl *RD, unsigned Depth);
  const Registered &registered(const clang::CXXRecordDecl *RD);

  ApiModel &Api;
  const clang::SourceManager &SM;
  llvm::DenseMap<const clang::CXXRecordDecl *, bool> Cache;
  llvm::DenseMap<const clang::CXXRecordDecl *, std::unique_ptr<Registered>>
      Registrations;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_MODULEPARAMETERS_H
