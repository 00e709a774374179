// SPDX-License-Identifier: Apache-2.0
// Asks the interpreter for the tensors of each leak.
#include "report/python_holders.h"

#include "hooks/making.h"
#include "hooks/references.h"
#include "platform/python.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace tensorscope::report {
namespace {

constexpr std::size_t kAsked = 10'000; ///< tensors of each place
constexpr std::size_t kMostLeaks = 10; ///< the largest: the interpreter goes through all of its objects for each

using Place = std::pair<const core::OperatorInfo*, const core::Stack*>;
using Tensors = std::map<Place, std::vector<at::Tensor>>;

void* python_object_of(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj();
}

/// Adds tensors of the wanted places that have an object in Python. Those that this thread made: it is Python's first.
void add_tensors(Tensors& wanted_places) {
  core::ThreadRecord* const thread = core::current_record;
  if (thread == nullptr || thread->survivors == nullptr) {
    return;
  }
  const core::LedgerGuard guard(*thread);
  for (const auto& survivor : thread->survivors->items()) {
    const auto wanted = wanted_places.find({survivor.entry.made_by, survivor.entry.stack});
    if (wanted == wanted_places.end() || wanted->second.size() >= kAsked) {
      continue;
    }
    auto tensor = hooks::lock_tensor(survivor.entry.tensor);
    if (tensor.defined() && python_object_of(tensor) != nullptr) {
      wanted->second.push_back(std::move(tensor));
    }
  }
}

} // namespace

bool python_is_the_program() {
  auto* const thread = core::this_thread();
  if (thread == nullptr) {
    return false;
  }
  constexpr std::size_t kDeepest = 4096;
  const auto stack = hooks::walk_stack(*thread, kDeepest);
  return std::any_of(stack.begin(), stack.end(), [](void* address) {
    Dl_info info{};
    return ::dladdr(static_cast<char*>(address) - 1, &info) != 0 && info.dli_sname != nullptr &&
        (std::strcmp(info.dli_sname, "Py_RunMain") == 0 || std::strcmp(info.dli_sname, "Py_BytesMain") == 0);
  });
}

void keep_what_python_piles_up(Report& report) {
  const auto is_asked = [](const Leak& leak) { return leak.kind == LeakKind::piled || leak.kind == LeakKind::graph; };
  const auto place_of = [](const Leak& leak) { return Place(leak.site.made_by, leak.site.stack); };
  Tensors tensors;
  for (const auto& leak : report.leaks) {
    if (is_asked(leak)) {
      tensors.try_emplace(place_of(leak));
    }
  }
  add_tensors(tensors);
  std::size_t asked = 0;
  const auto is_none = [&](Leak& leak) {
    if (!is_asked(leak)) {
      return false;
    }
    std::vector<void*> objects;
    for (const auto& tensor : tensors[place_of(leak)]) {
      objects.push_back(python_object_of(tensor));
    }
    if (!objects.empty() && asked++ < kMostLeaks) {
      leak.python_holders = platform::python_containers(objects);
    }
    if (leak.python_holders.empty()) {
      report.held.push_back(leak.site);
    }
    return leak.python_holders.empty();
  };
  report.leaks.erase(std::remove_if(report.leaks.begin(), report.leaks.end(), is_none), report.leaks.end());
}

} // namespace tensorscope::report
