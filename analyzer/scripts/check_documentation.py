#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every check that is registered has its page, its row in the table, its tests, and one sentence in all of them.

  check_documentation.py [--dump-config FILE]

With FILE, what `clang-tidy --dump-config` prints with all checks on, the options and defaults on the pages are
compared with those of the plugin. Prints one line for each thing that is missing and exits 1 if there is one.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REGISTRY = ROOT / "analyzer" / "checks" / "Registry.cpp"
ENTRY = re.compile(r'\{\{"([a-z-]+)",\s*(\d),\s*((?:"[^"]*"\s*)+)\}')
DUMPED = re.compile(r"^\s*tensorscope-([a-z-]+)\.(\w+): *'?([^'\n]*)'?$", re.M)
DOCUMENTED = re.compile(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \|", re.M)


def registered():
    """rule -> (level, sentence)"""
    entries = {}
    for rule, level, literals in ENTRY.findall(REGISTRY.read_text()):
        entries[rule] = (level, "".join(re.findall(r'"([^"]*)"', literals)))
    return entries


def missing_files(rule):
    for name in (f"docs/checks/{rule}.md", f"lit-tests/checks/{rule}.cpp", f"lit-tests/docs/{rule}.test",
                 f"lit-tests/real-torch/{rule}.test"):
        if not (ROOT / name).exists():
            yield f"{rule}: there is no {name}"


def differing_words(rule, level, sentence):
    page = ROOT / "docs" / "checks" / f"{rule}.md"
    if page.exists():
        text = page.read_text()
        if f"# tensorscope-{rule}\n\n{sentence}\n" not in text:
            yield f"{page.relative_to(ROOT)}: does not begin with the sentence of the registry: {sentence}"
        if f"\nLevel {level}.\n" not in text:
            yield f"{page.relative_to(ROOT)}: does not say 'Level {level}.'"
    row = f"| [tensorscope-{rule}]({rule}.md) | {level} | {sentence} |"
    if row not in (ROOT / "docs" / "checks" / "index.md").read_text():
        yield f"docs/checks/index.md: has no row {row}"


def undocumented_options(rule, dump):
    plugin = {name: default for owner, name, default in DUMPED.findall(dump) if owner == rule}
    page = ROOT / "docs" / "checks" / f"{rule}.md"
    options = re.split(r"^## ", page.read_text(), flags=re.M)
    table = next((part for part in options if part.startswith("Options")), "")
    documented = {name: default.strip().strip("`").replace("empty", "") for name, default in DOCUMENTED.findall(table)}
    for name in sorted(plugin.keys() | documented.keys()):
        if plugin.get(name) != documented.get(name):
            yield (f"docs/checks/{rule}.md: option {name}: default {documented.get(name, 'not there')!r}, "
                   f"the plugin says {plugin.get(name, 'not there')!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump-config", type=pathlib.Path)
    args = parser.parse_args()
    checks = registered()
    problems = [] if checks else [f"{REGISTRY.relative_to(ROOT)}: no check found"]
    pages = {path.stem for path in (ROOT / "docs" / "checks").glob("*.md")} - {"index"}
    problems += [f"docs/checks/{name}.md: there is no check of that name" for name in sorted(pages - checks.keys())]
    for rule, (level, sentence) in checks.items():
        problems += missing_files(rule)
        problems += differing_words(rule, level, sentence)
        if args.dump_config:
            problems += undocumented_options(rule, args.dump_config.read_text())
    print("\n".join(problems) or f"{len(checks)} checks, all documented and tested")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
