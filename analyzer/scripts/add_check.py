#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the skeleton of a new check: it builds, its tests pass, and check_documentation.py finds nothing missing.

  add_check.py [--root DIR] RULE LEVEL SENTENCE

RULE is the name without "tensorscope-", in small letters and hyphens. LEVEL is 0, 1 or 2. SENTENCE is what the check
finds, from a capital letter to a full stop: it stands in the registry, on the page and in the table.

The skeleton reports calls of a function `replace_me`, so that each part of it can be seen to work. Replace the query,
the words, the cases and the page's text; then run `ctest -R RULE`.
"""
import argparse
import pathlib
import re
import sys
import textwrap

QUERY = """\
// SPDX-License-Identifier: Apache-2.0
//
// @SENTENCE@
// User page: docs/checks/@RULE@.md
#include "checks/Check.h"

using namespace clang;

namespace tensorscope {

std::vector<FlowFinding> find@NAME@(CheckInput &Input) {
  std::vector<FlowFinding> Findings;
  Input.Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State>) {
    if (F.Kind != FactKind::Call || calleeName(F) != "replace_me")
      return;
    FlowFinding Found;
    Found.Loc = locationOf(F.At);
    Found.Subject = calleeName(F);
    Findings.push_back(std::move(Found));
  });
  return Findings;
}

Diagnostic describe@NAME@(const FlowFinding &F) {
  return makeDiagnostic(F, "'" + F.Subject + "' is called here");
}

} // namespace tensorscope
"""

CASES = """\
// SPDX-License-Identifier: Apache-2.0
// @SENTENCE@
// RUN: %check_tidy %s tensorscope-@RULE@ %t
@INCLUDE@ <tensorscope/tensorscope.h>
#include <torch/torch.h>

void replace_me(const torch::Tensor &x);
void leave_me(const torch::Tensor &x);

void reported(const torch::Tensor &x) {
  replace_me(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'replace_me' is called here [tensorscope-@RULE@]
}
void notReported(const torch::Tensor &x) { leave_me(x); }
"""

PAGE = """\
# tensorscope-@RULE@

@SENTENCE@

Level @LEVEL@.

## Reported

```cpp
void replace_me(const torch::Tensor &x);
void reported(const torch::Tensor &x) {
  replace_me(x);
  // warning: 'replace_me' is called here
}
```

## Not reported

```cpp
void leave_me(const torch::Tensor &x);
void fine(const torch::Tensor &x) {
  leave_me(x);
}
```

## Why it matters

What it costs, with a number.

## How to fix

What to write instead.

## How to silence

```cpp
void replace_me(const torch::Tensor &x);
void meant(const torch::Tensor &x) {
  replace_me(x); // NOLINT(tensorscope-@RULE@)
}
```

## Options

| name | type | default | meaning |
|---|---|---|---|
| `Models` | list of files, separated by `;` | empty | more [models](../models.md), for wrappers of your own |

## Known misses and false positives

- Each with its case in `lit-tests/checks/@RULE@.cpp`.

## At run time

Which entry of the report shows the same mistake.
"""

DOCS_TEST = """\
The page of the check shows what the check says.
RUN: %check_page %source_root/docs/checks/@RULE@.md tensorscope-@RULE@ %t -- %check_tidy
"""

TORCH_TEST = """\
On LibTorch's own headers and the real runtime header, the check says what it says on the stubs.
REQUIRES: torch
RUN: %check_tidy_torch %S/../checks/@RULE@.cpp tensorscope-@RULE@ %t
"""

NEW_FILES = {
    "analyzer/checks/@FILE@.cpp": QUERY,
    "lit-tests/checks/@RULE@.cpp": CASES,
    "lit-tests/docs/@RULE@.test": DOCS_TEST,
    "lit-tests/real-torch/@RULE@.test": TORCH_TEST,
    "docs/checks/@RULE@.md": PAGE,
}


class Refused(Exception):
    """The arguments or the tree are not as they must be; the text says how."""


def insert_sorted(text, line, key, pattern, where):
    """Puts a block among the blocks that the pattern matches, sorted by the pattern's first group."""
    blocks = list(re.finditer(pattern, text, re.M))
    if not blocks:
        raise Refused(f"{where}: no line like {line.strip().splitlines()[0]!r} to put the new one beside")
    before = [block for block in blocks if block.group(1) < key]
    at = before[-1].end() if before else blocks[0].start()
    return text[:at] + line + text[at:]


def edits(name, file, rule, level, sentence):
    """(file, block to insert, what it is sorted by, pattern of its neighbours)"""
    lines = textwrap.wrap(sentence, 69, drop_whitespace=False, break_long_words=False)
    words = "\n".join(f'        "{line}"' for line in lines)
    yield ("analyzer/checks/Registry.cpp",
           f'      {{{{"{rule}", {level},\n{words}}},\n       find{name}, describe{name}}},\n', rule,
           r'^      \{\{"([a-z-]+)", \d,\n(?:.*\n)+?.*\},\n(?=      \{\{|  \};)')
    yield ("analyzer/checks/Check.h", f"std::vector<FlowFinding> find{name}(CheckInput &Input);\n", name,
           r"^std::vector<FlowFinding> find(\w+)\(CheckInput &Input\);\n")
    yield ("analyzer/checks/Check.h", f"Diagnostic describe{name}(const FlowFinding &F);\n", name,
           r"^Diagnostic describe(\w+)\(const FlowFinding &F\);\n")
    yield "analyzer/CoreSources.cmake", f"    checks/{file}.cpp\n", file, r"^    checks/(\w+)\.cpp\n"
    yield ("docs/checks/index.md", f"| [tensorscope-{rule}]({rule}.md) | {level} | {sentence} |\n", rule,
           r"^\| \[tensorscope-([a-z-]+)\].*\n")
    for test in ("list-checks.test", "list-checks-19.test"):
        yield (f"lit-tests/infrastructure/{test}", f"CHECK-NEXT: tensorscope-{rule}\n", rule,
               r"^CHECK-NEXT: tensorscope-([a-z-]+)\n")


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("rule")
    parser.add_argument("level", choices=["0", "1", "2"])
    parser.add_argument("sentence")
    args = parser.parse_args(argv)
    if not re.fullmatch(r"[a-z]+(-[a-z]+)*", args.rule):
        raise Refused(f"{args.rule!r} is no name of a rule: small letters and hyphens, without 'tensorscope-'")
    if args.rule.startswith("tensorscope-"):
        raise Refused(f"{args.rule!r}: leave 'tensorscope-' out")
    if not re.fullmatch(r"""[A-Z][^\n|"\\]*\.""", args.sentence):
        raise Refused("the sentence is one line without '|', '\"' and '\\\\', from a capital letter to a full stop")
    return args


def main(argv):
    args = parse(argv)
    file = "".join(part.capitalize() for part in args.rule.split("-"))
    values = {"@RULE@": args.rule, "@LEVEL@": args.level, "@SENTENCE@": args.sentence, "@NAME@": file, "@FILE@": file,
              "@INCLUDE@": "#include"} # the text is no include of this file

    def filled(text):
        for mark, value in values.items():
            text = text.replace(mark, value)
        return text

    new = {args.root / filled(path): filled(text) for path, text in NEW_FILES.items()}
    for path in new:
        if path.exists():
            raise Refused(f"{path.relative_to(args.root)} is there already")
    # All is worked out before anything is written: a refusal leaves the tree as it was.
    for path, line, key, pattern in edits(file, file, args.rule, args.level, args.sentence):
        target = args.root / path
        new[target] = insert_sorted(new.get(target) or target.read_text(), line, key, pattern, path)
    for path, text in new.items():
        path.write_text(text)
        print(path.relative_to(args.root))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Refused, OSError) as problem:
        print(f"add_check.py: {problem}", file=sys.stderr)
        sys.exit(2)
