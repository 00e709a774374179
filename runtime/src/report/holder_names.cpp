// SPDX-License-Identifier: Apache-2.0
// What each word of a way stands in: variables by symbols and debug information, LibTorch's objects by their classes,
// callables by the functions that they call.
#include "report/holder_names.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tensorscope::report {
namespace {

std::string in_quotes(const std::string& name) { return "'" + name + "'"; }

std::string declared_at(const std::string& file, unsigned line) {
  return file.empty() ? "" : " (" + file + ":" + std::to_string(line) + ")";
}

std::string words_of(const Variable& variable, const char* what) {
  return what + (variable.name.empty() ? "" : " " + in_quotes(variable.name)) +
      (variable.function.empty() ? "" : " of " + variable.function + "()") + declared_at(variable.file, variable.line);
}

/// A std::string at `address`.
std::string read_string(std::uintptr_t address) {
  constexpr std::uintptr_t kLongest = 256;
  std::array<std::uintptr_t, 2> words{}; // text, length
  if (!read_memory(address, words.data(), sizeof words) || words[1] == 0 || words[1] > kLongest) {
    return {};
  }
  std::string text(words[1], ' ');
  const bool good = read_memory(words[0], text.data(), text.size()) &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c != 127; });
  return good ? text : std::string();
}

std::string node_name(const std::string& name) {
  static constexpr std::string_view kSpace = "torch::autograd::";
  const std::string text = short_type(name);
  return text.starts_with(kSpace) ? text.substr(kSpace.size()) : text;
}

/// The callable in the name of the function that a std::function calls it by.
std::string callable_in(const std::string& name) {
  std::size_t begin = name.find("_Function_handler<");
  if (begin == std::string::npos) {
    return {};
  }
  int depth = 0;
  std::size_t comma = 0;
  for (std::size_t i = begin; i < name.size(); ++i) {
    const char c = name[i];
    depth += c == '<' || c == '(' || c == '{' ? 1 : c == '>' || c == ')' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 1) {
      comma = i;
    }
    if (depth == 0 && comma != 0) {
      return name.substr(comma + 2, i - comma - 2);
    }
  }
  return {};
}

/// Where in a name a lambda begins, as compilers write it; npos for none.
std::size_t lambda_in(const std::string& name) {
  return std::min({name.find("{lambda("), name.find("'lambda"), name.find("$_")});
}

/// The name of the closure that `name` speaks of: "main::{lambda()#1}".
std::string closure_name(const std::string& name) {
  const std::size_t lambda = lambda_in(name);
  if (lambda == std::string::npos) {
    return {};
  }
  // Back to where its function's name begins: parameters may hold anything but an open bracket.
  int depth = 0;
  std::size_t begin = lambda;
  while (begin > 0) {
    const char c = name[begin - 1];
    if (depth == 0 && (c == '<' || c == ',' || c == ' ')) {
      break;
    }
    depth += c == ')' || c == '>' ? 1 : c == '(' || c == '<' ? -1 : 0;
    --begin;
  }
  std::size_t end = name.find_first_of(name[lambda] == '{' ? "}" : "<>, ", lambda);
  end = end == std::string::npos ? name.size() : end + (name[lambda] == '{' ? 1 : 0);
  return name.substr(begin, end - begin);
}

} // namespace

HolderNames::HolderNames(const UpwardSearch& search, const std::vector<ThreadMemory>& threads, const TorchClasses& torch,
                         ObjectClasses& classes, DebugInfo& debug, Symbolizer& symbolizer, bool stack_is_gone)
    : search_(search), threads_(threads), torch_(torch), classes_(classes), debug_(debug), symbolizer_(symbolizer) {
  if (!stack_is_gone) {
    running_ = running_functions();
  }
}

Holder HolderNames::name(const std::vector<const HolderEdge*>& way, const std::string& ending) {
  steps_.clear();
  kind_ = items_ = HolderKind::unknown;
  children_ = false;
  Known known;
  for (std::size_t i = 0; i < way.size(); ++i) {
    if (way[i]->holder == kNoObject) {
      add_variable(*way[i], known);
    } else {
      add_object(*way[i], ending, i == 0, known);
    }
  }
  add("Tensor");
  Holder holder{1, kind_, "", std::move(steps_)};
  for (std::size_t i = 0; i < holder.chain.size(); ++i) {
    holder.text += (i == 0 ? "" : " -> ") + holder.chain[i];
  }
  return holder;
}

/// A chain of nodes of one kind is one step.
void HolderNames::add(const std::string& step) {
  if (!step.empty() && (steps_.empty() || steps_.back() != step)) {
    steps_.push_back(step);
  }
}

void HolderNames::add_variable(const HolderEdge& edge, Known& known) {
  switch (edge.kind) {
    case PlaceKind::user_static:
      kind_ = HolderKind::static_variable;
      add_static(edge, known);
      break;
    case PlaceKind::thread_local_memory:
      kind_ = HolderKind::thread_local_variable;
      add_thread_local(edge, known);
      break;
    case PlaceKind::stack:
      kind_ = HolderKind::stack;
      add_stack(edge, known);
      break;
    case PlaceKind::library_static:
      kind_ = HolderKind::unknown;
      add(debug_.library_at(edge.place).empty() ? "thread-local memory of a library" : "memory of " + debug_.library_at(edge.place));
      break;
    case PlaceKind::block:
    case PlaceKind::unused_stack:
      break;
  }
  add_callable(edge.place);
}

void HolderNames::add_static(const HolderEdge& edge, Known& known) {
  const auto [found, is_new] = statics_.try_emplace(edge.place);
  if (is_new) {
    found->second = debug_.static_at(edge.place);
  }
  if (found->second) {
    add(words_of(*found->second, "static"));
    add_typed(*found->second, edge.place, known);
  } else {
    add("a static variable of " + debug_.library_at(edge.place));
  }
}

void HolderNames::add_thread_local(const HolderEdge& edge, Known& known) {
  for (const ThreadMemory& thread : threads_) {
    const auto part = edge.place < thread.pointer ? thread_local_place(thread.pointer - edge.place) : std::nullopt;
    if (!part) {
      continue;
    }
    const bool is_own = &thread == threads_.data();
    const std::string of = is_own ? "" : " of thread " + std::to_string(thread.id) + " " + in_quotes(thread.name);
    if (auto variable = debug_.thread_local_at(part->library, part->offset)) {
      add(words_of(*variable, "thread_local") + of);
      variable->begin += edge.place - part->offset;
      add_typed(*variable, edge.place, known);
    } else {
      add("thread-local memory of " + debug_.library_at(part->library) + of);
    }
    return;
  }
}

void HolderNames::add_stack(const HolderEdge& edge, Known& known) {
  for (const RunningFunction& function : running_) {
    if (function.begin <= edge.place && edge.place < function.cfa) {
      if (auto variable = debug_.local_at(edge.place, function.pc, function.cfa)) {
        add(words_of(*variable, variable->name.empty() ? "a variable" : "variable"));
        add_typed(*variable, edge.place, known);
        return;
      }
    }
  }
  for (const ThreadMemory& thread : threads_) {
    if (thread.stack.first <= edge.place && edge.place < thread.stack.second) {
      add("the stack of thread " + std::to_string(thread.id) + " " + in_quotes(thread.name) +
          (thread.in_use_known ? "" : ", perhaps left over"));
      return;
    }
  }
}

void HolderNames::add_typed(const Variable& variable, std::uintptr_t place, Known& known) {
  if (variable.type) {
    follow(types_.part_at({variable.type, std::nullopt, 0}, place - variable.begin), place, known);
  }
}

void HolderNames::follow(Part part, std::uintptr_t place, Known& known) {
  for (const auto& step : part.steps) {
    add(step);
  }
  known.type = std::move(part.pointee);
  known.begin = read_word(place).value_or(0);
}

void HolderNames::add_object(const HolderEdge& edge, const std::string& ending, bool is_first, Known& known) {
  const HeldObject& holder = search_.objects()[edge.holder];
  if (is_first) {
    kind_ = HolderKind::heap;
    add(ending);
  }
  const FoundObject object = holder.mapped ? FoundObject{} : classes_.object_in(holder.range);
  if (items_ != HolderKind::unknown || children_) {
    add_item(edge.place);
  } else if (add_torch_object(object, edge.place)) {
    known = {};
  } else {
    const bool typed = known.type.known() && known.begin != 0 && edge.place >= known.begin;
    Part part = typed ? types_.part_at(known.type, edge.place - known.begin) : Part{};
    // What stands between a container, or an object of LibTorch's, and its elements goes without saying.
    const bool told = typed || steps_.size() > 1;
    if (part.steps.empty() && !is_first && !add_class(object) && (!told || holder.mapped)) {
      add(describe(holder));
    }
    follow(std::move(part), edge.place, known);
  }
  add_callable(edge.place);
}

/// Objects of LibTorch's that stand between a variable and a tensor.
bool HolderNames::add_torch_object(const FoundObject& object, std::uintptr_t place) {
  if (object.type == nullptr || place < object.begin) {
    return false;
  }
  const std::uintptr_t at = place - object.begin;
  if (object.type->is(torch_.tensor)) {
    add(torch_.tensor_storage.covers(at) ? "view" : "Tensor");
  } else if (object.type->is(torch_.autograd_meta)) {
    if (torch_.meta_grad.covers(at)) {
      kind_ = HolderKind::grad;
      add("grad");
    } else {
      add(torch_.meta_grad_fn.covers(at) ? "grad_fn" : "");
    }
  } else if (object.type->is(torch_.node)) {
    kind_ = HolderKind::graph;
    add(node_name(object.type->name));
  } else if (object.type->is(torch_.optimizer_state)) {
    kind_ = HolderKind::optimizer;
    add(short_type(object.type->name));
  } else if (object.type->is(torch_.module)) {
    add(short_type(object.type->name));
    items_ = torch_.module_parameters.covers(at) ? HolderKind::parameter
        : torch_.module_buffers.covers(at)       ? HolderKind::buffer
                                                 : HolderKind::unknown;
    children_ = torch_.module_children.covers(at);
    return items_ != HolderKind::unknown || children_;
  } else {
    return false;
  }
  return true;
}

/// An entry of a module's dictionary: its key stands before it.
void HolderNames::add_item(std::uintptr_t place) {
  constexpr std::uintptr_t kKey = 32;
  std::string key = read_string(place - kKey);
  if (key.empty()) {
    key = read_string(place - kKey - sizeof(std::uintptr_t)); // the second word of a shared pointer
  }
  const char* const what = items_ == HolderKind::parameter ? "parameter" : items_ == HolderKind::buffer ? "buffer" : "module";
  if (items_ != HolderKind::unknown) {
    kind_ = items_;
  }
  add(what + (key.empty() ? std::string() : " " + in_quotes(key)));
  items_ = HolderKind::unknown;
  children_ = false;
}

/// Whether the object's class could be named.
bool HolderNames::add_class(const FoundObject& object) {
  if (object.type == nullptr) {
    return false;
  }
  const std::string closure_in_it = closure_name(object.type->name);
  if (!closure_in_it.empty()) {
    add(closure(closure_in_it, 0));
    return true;
  }
  // A shared pointer's own block, with what it counts for.
  static constexpr std::string_view kCounted = "std::_Sp_counted_ptr_inplace<";
  if (object.type->name.starts_with(kCounted)) {
    const std::string counted = object.type->name.substr(kCounted.size());
    add(short_type(counted.substr(0, counted.find(", std::allocator<"))));
    return true;
  }
  if (!object.type->name.starts_with("std::_")) {
    add(short_type(object.type->name));
  }
  return true;
}

/// Names what a std::function or std::any at `place` holds.
bool HolderNames::add_callable(std::uintptr_t place) {
  const std::uintptr_t invoker = read_word(place + 3 * sizeof(std::uintptr_t)).value_or(0);
  if (const auto symbol = debug_.function_at(invoker); symbol.find("_Function_handler") != std::string_view::npos) {
    const std::string callable = callable_in(demangled(symbol));
    add("std::function");
    add(lambda_in(callable) != std::string::npos ? closure(closure_name(callable), invoker) : short_type(callable));
    return true;
  }
  const std::uintptr_t manager = read_word(place - sizeof(std::uintptr_t)).value_or(0);
  if (const auto symbol = debug_.function_at(manager); symbol.starts_with("_ZNSt3any")) {
    add("std::any");
    return true;
  }
  return false;
}

/// "lambda in train (loop.cpp:31)". `invoker` is a function that calls it, 0 if none is known.
std::string HolderNames::closure(const std::string& name, std::uintptr_t invoker) {
  const auto [known, is_new] = closures_.try_emplace(name);
  if (is_new) {
    const std::size_t end = name.rfind("::", lambda_in(name));
    const std::string function = end != std::string::npos ? without_parameters(name.substr(0, end)) : std::string();
    known->second = "lambda" + (function.empty() ? "" : " in " + function) + place_of_closure(name, invoker);
  }
  return known->second;
}

/// By its own function, or where that was inlined by the lines of the one that calls it.
std::string HolderNames::place_of_closure(const std::string& name, std::uintptr_t invoker) {
  const auto users_line = [&](std::uintptr_t address) {
    for (const SourceFrame& frame : symbolizer_.frames_at(reinterpret_cast<void*>(address + 1))) {
      if (frame.users && !frame.file.empty()) {
        return declared_at(frame.file.substr(frame.file.rfind('/') + 1), frame.line);
      }
    }
    return std::string();
  };
  for (const ElfSymbol& function : debug_.functions_with("clE", "")) {
    if (demangled(function.name).starts_with(name + "::operator()")) {
      return users_line(function.address);
    }
  }
  constexpr std::uintptr_t kLongest = 512;
  for (std::uintptr_t at = invoker; invoker != 0 && at < invoker + kLongest; ++at) {
    if (const std::string line = users_line(at); !line.empty()) {
      return line;
    }
  }
  return {};
}

std::string HolderNames::describe(const HeldObject& object) {
  const std::string size = std::to_string(object.range.second - object.range.first) + " bytes";
  if (object.mapped) {
    return search_.heap_known() ? "mapped memory of " + size : "memory of an allocator that is not known";
  }
  const FoundObject found = classes_.object_in(object.range);
  const std::string name = found.type != nullptr ? short_type(found.type->name) : "";
  return name.empty() || name.starts_with("std::_") ? "a heap block of " + size : name + " on the heap";
}

} // namespace tensorscope::report
