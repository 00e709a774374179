// SPDX-License-Identifier: Apache-2.0
// The words of an out-of-memory report.
#include "report/out_of_memory.h"
#include "report/words.h"

#include <algorithm>
#include <sstream>

namespace tensorscope::report {
namespace {

constexpr std::size_t kShown = 10; // places; JSON has more

std::string amount(const Sum& sum) {
  return std::to_string(sum.bytes) + (sum.bytes == 1 ? " byte in " : " bytes in ") + std::to_string(sum.count) +
      (sum.count == 1 ? " tensor" : " tensors");
}

std::string place(const core::RegionPlace& region) {
  return std::string(region.kind == core::RegionKind::scope ? "the scope at " : "the session at ") +
      region.where.file_name() + ":" + std::to_string(region.where.line());
}

void add_head(std::ostringstream& text, const OutOfMemoryNote& note) {
  text << "OUT OF MEMORY: " << note.requested << (note.requested == 1 ? " byte on " : " bytes on ") << note.device.str()
       << " asked for by " << (note.asked_by != nullptr ? note.asked_by->name : "code outside of operators");
  if (note.library) {
    text << " in backward() or another call that LibTorch makes for itself";
  }
  if (note.limit != 0) {
    text << ", with a limit of " << note.limit << " (limit_mb=" << (note.limit >> 20) << ")";
  }
  if (!note.detail.empty()) {
    text << "; " << note.detail;
  }
  text << '\n';
}

void add_where(std::ostringstream& text, const OutOfMemoryNote& note, Symbolizer& symbolizer) {
  text << "  asked for here, on thread " << note.thread;
  if (note.in_region) {
    text << ", in " << place(note.region);
  }
  text << ":\n";
  if (note.stack != nullptr) {
    text << describe(*note.stack, symbolizer);
  } else {
    text << "    (the stack is not known)\n";
  }
}

void add_living(std::ostringstream& text, const OutOfMemoryNote& note, Symbolizer& symbolizer) {
  text << "  alive by place, the largest first:\n";
  for (std::size_t i = 0; i < std::min(kShown, note.sites.size()); ++i) {
    const Site& site = note.sites[i];
    text << "  " << amount({site.count, site.bytes}) << " of "
         << (site.made_by != nullptr ? site.made_by->name : "an operator") << " " << describe(site.shape) << '\n';
    if (site.stack != nullptr) {
      text << describe(*site.stack, symbolizer);
    }
  }
  if (const std::uint64_t more = note.more_sites + note.sites.size() - std::min(kShown, note.sites.size()); more != 0) {
    text << "  and " << more << (more == 1 ? " more place\n" : " more places\n");
  }
  text << "  alive by scope:\n";
  for (const auto& scope : note.scopes) {
    text << "    " << amount(scope.sum) << " made in " << (scope.in_region ? place(scope.region) : "no scope") << '\n';
  }
  if (note.more_scopes != 0) {
    text << "    and in " << note.more_scopes << (note.more_scopes == 1 ? " more scope\n" : " more scopes\n");
  }
  text << "  alive by role:\n";
  std::vector<Role> roles;
  for (std::size_t role = 0; role < kRoles; ++role) {
    roles.push_back(static_cast<Role>(role));
  }
  const auto sum_of = [&](Role role) -> const Sum& { return note.roles[static_cast<std::size_t>(role)]; };
  std::stable_sort(roles.begin(), roles.end(), [&](Role a, Role b) { return sum_of(a).bytes > sum_of(b).bytes; });
  for (const Role role : roles) {
    if (sum_of(role).count != 0) {
      text << "    " << amount(sum_of(role)) << ' ' << words_of(role) << '\n';
    }
  }
}

} // namespace

const char* words_of(Role role) {
  switch (role) {
    case Role::open_scope:
      return "owned by an open scope";
    case Role::open_session:
      return "owned by an open session";
    case Role::retained:
      return "retained";
    case Role::result:
      return "returned from scopes";
    case Role::graph:
      return "kept for a backward()";
    case Role::adopted:
      return "adopted";
    case Role::escape:
      return "escaped and left alive";
    case Role::left_open:
      return "of scopes whose threads ended";
    case Role::unscoped:
      return "made in no scope";
    case Role::library:
      return "made by LibTorch for itself (gradients, optimizer state)";
    case Role::count:
      break;
  }
  return "";
}

const char* name_of(Role role) {
  switch (role) {
    case Role::open_scope:
      return "open_scope";
    case Role::open_session:
      return "open_session";
    case Role::retained:
      return "retained";
    case Role::result:
      return "result";
    case Role::graph:
      return "graph";
    case Role::adopted:
      return "adopted";
    case Role::escape:
      return "escape";
    case Role::left_open:
      return "left_open";
    case Role::unscoped:
      return "unscoped";
    case Role::library:
      return "library";
    case Role::count:
      break;
  }
  return "";
}

std::string as_text(const OutOfMemoryNote& note, Symbolizer& symbolizer) {
  std::ostringstream text;
  add_head(text, note);
  add_where(text, note, symbolizer);
  if (note.known.count != 0) {
    add_living(text, note, symbolizer);
  }
  text << "  alive in all: " << amount(note.known);
  if (note.allocated_bytes > note.known.bytes) {
    text << ", and " << note.allocated_bytes - note.known.bytes << " bytes of which nothing is known";
  }
  text << '\n';
  if (note.unread_threads != 0) {
    text << "tracker health: " << note.unread_threads << " thread(s) were busy and could not be asked what they keep\n";
  }
  text << '\n';
  return text.str();
}

} // namespace tensorscope::report
