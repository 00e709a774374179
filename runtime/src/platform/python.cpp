// SPDX-License-Identifier: Apache-2.0
// By the interpreter's stable C interface, found by name: the library needs no Python, and fits each version of it.
#include "platform/python.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string_view>

namespace tensorscope::platform {
namespace {

struct PyObject;
using PyCFunction = PyObject* (*)(PyObject*, PyObject*);

/// As in Python's own headers, where it is part of the stable interface.
struct PyMethodDef {
  const char* name;
  PyCFunction function;
  int flags;
  const char* doc;
};
constexpr int kTakesNothing = 0x0004; // METH_NOARGS
constexpr int kFileInput = 257;       // Py_file_input

constinit std::atomic<void (*)() noexcept> exit_handler{nullptr};

template <class Function>
Function* find(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

/// The functions that are used here; all there, or the interpreter is not asked.
struct Python {
  decltype(find<int(int (*)(void*), void*)>("")) add_pending_call = find<int(int (*)(void*), void*)>("Py_AddPendingCall");
  decltype(find<int()>("")) is_initialized = find<int()>("Py_IsInitialized");
  decltype(find<PyObject*(const char*)>("")) import = find<PyObject*(const char*)>("PyImport_ImportModule");
  decltype(find<PyObject*(PyMethodDef*, PyObject*, PyObject*)>("")) new_function =
      find<PyObject*(PyMethodDef*, PyObject*, PyObject*)>("PyCFunction_NewEx");
  decltype(find<PyObject*(PyObject*, const char*, const char*, ...)>("")) call_method =
      find<PyObject*(PyObject*, const char*, const char*, ...)>("PyObject_CallMethod");
  decltype(find<void(PyObject*)>("")) drop = find<void(PyObject*)>("Py_DecRef");
  decltype(find<void(PyObject*)>("")) take = find<void(PyObject*)>("Py_IncRef");
  decltype(find<void()>("")) clear_error = find<void()>("PyErr_Clear");
  decltype(find<PyObject*()>("")) new_dict = find<PyObject*()>("PyDict_New");
  decltype(find<PyObject*(std::ptrdiff_t)>("")) new_list = find<PyObject*(std::ptrdiff_t)>("PyList_New");
  decltype(find<int(PyObject*, PyObject*)>("")) append = find<int(PyObject*, PyObject*)>("PyList_Append");
  decltype(find<PyObject*(const char*, int, PyObject*, PyObject*)>("")) run =
      find<PyObject*(const char*, int, PyObject*, PyObject*)>("PyRun_String");
  decltype(find<PyObject*(PyObject*, const char*)>("")) item = find<PyObject*(PyObject*, const char*)>("PyDict_GetItemString");
  decltype(find<int(PyObject*, const char*, PyObject*)>("")) set_item =
      find<int(PyObject*, const char*, PyObject*)>("PyDict_SetItemString");
  decltype(find<const char*(PyObject*)>("")) text = find<const char*(PyObject*)>("PyUnicode_AsUTF8");

  bool complete() const {
    return add_pending_call && is_initialized && import && new_function && call_method && drop && take && clear_error &&
        new_dict && new_list && append && run && item && set_item && text && is_initialized() != 0;
  }
};

PyObject* at_python_exit(PyObject*, PyObject*) {
  if (const auto handler = exit_handler.load()) {
    handler();
  }
  const auto none = reinterpret_cast<PyObject*>(::dlsym(RTLD_DEFAULT, "_Py_NoneStruct"));
  Python().take(none);
  return none;
}

/// Runs between two instructions of the program, with the interpreter's lock held.
int register_handler(void*) {
  static PyMethodDef method{"tensorscope_report", &at_python_exit, kTakesNothing, nullptr};
  const Python python;
  PyObject* const function = python.new_function(&method, nullptr, nullptr);
  PyObject* const module = function != nullptr ? python.import("atexit") : nullptr;
  PyObject* const result = module != nullptr ? python.call_method(module, "register", "O", function) : nullptr;
  for (PyObject* const object : {function, module, result}) {
    if (object != nullptr) {
      python.drop(object);
    }
  }
  if (result == nullptr) {
    python.clear_error(); // the report is made at the process's exit, then
  }
  return 0;
}

/// Goes from the things to what refers to them, a few steps, and says where many lie together. What this code itself holds
/// is left out.
constexpr const char* kFindContainers = R"(
import gc, sys, types
torch = sys.modules.get("torch")
module_type = getattr(getattr(torch, "nn", None), "Module", types.ModuleType)
parameter_type = getattr(getattr(torch, "nn", None), "Parameter", types.ModuleType)
few = 10
ours = {id(globals()), id(things)}
def members(user):
    return list(user.values()) if isinstance(user, dict) else list(user)
def is_container(user):
    return isinstance(user, (dict, list, tuple, set, frozenset)) or type(user).__name__ == "deque"
def is_torchs(user):
    if isinstance(user, dict):
        return any(isinstance(key, parameter_type) for key in list(user)) or "_parameters" in user and "_modules" in user
    return isinstance(user, module_type)
def users_of(things):
    users = gc.get_referrers(*things)
    ours.add(id(users))
    skipped = (types.ModuleType, types.FrameType, types.FunctionType, types.CellType, type)
    return [user for user in users if id(user) not in ours and not isinstance(user, skipped) and not is_torchs(user)]
def name_in(names, value):
    for key in list(names):
        if names.get(key) is value:
            return key
def place_of(value, depth=2):
    for user in gc.get_referrers(value):
        if isinstance(user, dict) and id(user) not in ours:
            key = name_in(user, value)
            for owner in gc.get_referrers(user):
                if isinstance(owner, types.ModuleType) and vars(owner) is user:
                    return f" '{key}' in module {owner.__name__}"
                if getattr(owner, "__dict__", None) is user:
                    return f" attribute '{key}' of a {type(owner).__name__}"
            return f" as item {str(key)[:40]!r} of a dict" + (place_of(user, depth - 1) if depth else "")
    for user in gc.get_referrers(value):
        attributes = getattr(user, "__dict__", None)
        if isinstance(attributes, dict) and not isinstance(user, types.ModuleType) and name_in(attributes, value) is not None:
            return f" attribute '{name_in(attributes, value)}' of a {type(user).__name__}"
    return ""
def search(things):
    found = []
    for step in range(3):
        ids = {id(thing) for thing in things}
        ours.add(id(things))
        smaller = []
        for user in users_of(things) if things else ():
            count = sum(id(member) in ids for member in members(user)) if is_container(user) else 0
            if count >= few:
                found.append((count, f"{count} in {type(user).__name__}{place_of(user)}"))
            else:
                smaller.append(user)
        things = smaller[:10000]
    return [text for count, text in sorted(found, key=lambda one: -one[0])[:5]]
answer = "\n".join(search([thing for thing in things if not isinstance(thing, parameter_type)]))
del things
)";

void add_lines(std::vector<std::string>& all, std::string_view text) noexcept {
  try {
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      all.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  } catch (...) {
    all.clear(); // memory is short
  }
}

} // namespace

bool call_at_python_exit(void (*handler)() noexcept) noexcept {
  const Python python;
  if (!python.complete()) {
    return false;
  }
  exit_handler.store(handler);
  return python.add_pending_call(&register_handler, nullptr) == 0;
}

std::vector<std::string> python_containers(const std::vector<void*>& objects) noexcept {
  std::vector<std::string> all;
  const Python python;
  PyObject* const names = python.complete() ? python.new_dict() : nullptr;
  PyObject* const things = names != nullptr ? python.new_list(0) : nullptr;
  if (things != nullptr) {
    for (void* const object : objects) {
      python.append(things, static_cast<PyObject*>(object));
    }
    python.set_item(names, "things", things);
    python.drop(things);
    PyObject* const result = python.run(kFindContainers, kFileInput, names, names);
    PyObject* const answer = result != nullptr ? python.item(names, "answer") : nullptr;
    if (const char* const text = answer != nullptr ? python.text(answer) : nullptr) {
      add_lines(all, text);
    }
    python.clear_error();
    if (result != nullptr) {
      python.drop(result);
    }
  }
  if (names != nullptr) {
    python.drop(names);
  }
  return all;
}

} // namespace tensorscope::platform
