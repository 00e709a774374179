#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the plugin in stock clang-tidy on one test file and compares what it says with the file's CHECK comments.

  check_tidy.py [options] FILE RULES TEMP_PREFIX

The file is tested with each --tool VERSION TIDY PLUGIN, and all must agree; or with `tensorscope check` in their place,
which applies no fix-its. RULES is what goes into --checks after "-*,". In the file (a suffix from --check-suffixes may
follow each name as "-SUFFIX"):
  // CHECK-MESSAGES: text   a warning that must appear, in order; the notes of a warning need not be listed
  // CHECK-NOTES: text      the same, and every note must be listed too; not together with CHECK-MESSAGES
  // CHECK-FIXES: text      must appear, in order, in the file after its fix-its were applied
Patterns are FileCheck's, so [[@LINE-1]] is there. Any warning, or any error, that no comment names fails the test. A
file without a CHECK comment must be run with --expect-clean. What the fix-its made must compile, and each finding
that had a fix-it must be gone.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

CHECK = re.compile(r"//\s*CHECK-(?:MESSAGES|NOTES|FIXES)\b.*")
DIAGNOSTIC = re.compile(r"^(?P<where>[^\s:][^:]*:\d+:\d+): (?P<kind>warning|error|note): (?P<text>.*)$")
FIXED = re.compile(r"clang-tidy applied (\d+) of (\d+) suggested fixes")


class Failure(Exception):
    """The test failed; its text says why."""


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("rules")
    parser.add_argument("prefix", type=pathlib.Path, help="start of the names of temporary files")
    parser.add_argument("--tool", nargs=3, action="append", default=[], metavar=("VERSION", "TIDY", "PLUGIN"))
    parser.add_argument("--first-tool-only", action="store_true")
    parser.add_argument("--check", help="the program tensorscope, to be run in place of the tools")
    parser.add_argument("--filecheck", required=True)
    parser.add_argument("--flag", action="append", default=[], help="for the compiler; given once per flag")
    parser.add_argument("--config", default="{}", help="clang-tidy's --config")
    parser.add_argument("--check-suffixes", default="", help="comma-separated; an empty part means no suffix")
    parser.add_argument("--expect-clean", action="store_true")
    return parser.parse_args(argv)


def diagnostics_in(text):
    return [line for line in text.splitlines() if DIAGNOSTIC.match(line)]


def run_check(args, source):
    """Runs `tensorscope check` and gives back its diagnostics."""
    folder = pathlib.Path(f"{args.prefix}.database").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    command = ["c++", *args.flag, "-c", str(source)]
    rows = [{"directory": str(folder), "file": str(source), "arguments": command}]
    (folder / "compile_commands.json").write_text(json.dumps(rows))
    done = subprocess.run([args.check, "check", "-p", str(folder), "--level", "2", "--checks", f"-*,{args.rules}", "--quiet"],
                          cwd=folder, capture_output=True, text=True)  # not above the file, so that paths are whole
    if done.returncode not in (0, 1):
        raise Failure(f"exit status {done.returncode}\n{done.stderr}")
    return diagnostics_in(done.stdout)


def run_tidy(tool, args, source, *extra):
    """Runs clang-tidy and gives back its diagnostics, without the code that it quotes."""
    _, tidy, plugin = tool
    command = [tidy, f"--load={plugin}", f"--checks=-*,{args.rules}", f"--config={args.config}", "--quiet", *extra,
               str(source), "--", *args.flag]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = diagnostics_in(done.stdout)
    stray = [line for line in done.stderr.splitlines() if re.search(r"error|PLEASE submit a bug|Stack dump", line, re.I)]
    errors = [line for line in lines if ": error: " in line]
    if stray or errors or done.returncode < 0:
        raise Failure(f"exit status {done.returncode}\n" + "\n".join(errors + stray + done.stderr.splitlines()[-5:]))
    return lines, done.stdout + done.stderr


def in_file(lines, source):
    """The diagnostics of one file, which is all that the user is shown."""
    foreign = [line for line in lines if not line.startswith(f"{source}:") and ": warning: " in line]
    if foreign:
        raise Failure("warnings outside the test file:\n" + "\n".join(foreign))
    return lines


def prefixes_for(kind, suffixes):
    return [f"CHECK-{kind}" + (f"-{suffix}" if suffix else "") for suffix in suffixes]


def has_any(text, prefixes):
    return any(re.search(rf"//\s*{prefix}(?:-NEXT|-NOT|-SAME|-COUNT-\d+)?:", text) for prefix in prefixes)


def filecheck(args, prefixes, subject, forbidden):
    implicit = [f"--implicit-check-not={pattern}" for pattern in forbidden]
    command = [args.filecheck, f"--input-file={subject}", f"--check-prefixes={','.join(prefixes)}", "--allow-empty",
               "--dump-input=never", *implicit, str(args.file)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{done.stderr}\n--- in {subject}:\n{pathlib.Path(subject).read_text()}")


def check_messages(args, suffixes, lines, subject):
    text = args.file.read_text()
    messages, notes = prefixes_for("MESSAGES", suffixes), prefixes_for("NOTES", suffixes)
    pathlib.Path(subject).write_text("\n".join(lines) + "\n")
    if has_any(text, messages) and has_any(text, notes):
        raise Failure("CHECK-MESSAGES and CHECK-NOTES in one run: choose one of them")
    if args.expect_clean:
        if has_any(text, messages + notes):
            raise Failure("--expect-clean, but the file names warnings")
        if lines:
            raise Failure("unexpected:\n" + "\n".join(lines))
    elif has_any(text, notes):
        filecheck(args, notes, subject, ["{{: (warning|note|error): }}"])
    elif has_any(text, messages):
        filecheck(args, messages, subject, ["{{: (warning|error): }}"])
    else:
        raise Failure("no CHECK-MESSAGES and no CHECK-NOTES: say --expect-clean where that is meant")


def warnings_in(lines):
    return sum(1 for line in lines if ": warning: " in line)


def check_fixes(args, suffixes, tool, source, lines):
    """Applies the fix-its to a copy, compares, and analyzes the result once more."""
    fixes = prefixes_for("FIXES", suffixes)
    if not has_any(args.file.read_text(), fixes):
        return
    fixed = source.with_name(source.stem + ".fixed" + source.suffix)
    shutil.copyfile(source, fixed)
    _, output = run_tidy(tool, args, fixed, "--fix")
    filecheck(args, fixes, fixed, [])
    if not FIXED.search(output):
        raise Failure("CHECK-FIXES in the file, but clang-tidy applied no fix:\n" + output)
    after, _ = run_tidy(tool, args, fixed)
    repaired = sum(1 for line in output.splitlines() if "FIX-IT applied suggested code changes" in line)
    if warnings_in(after) >= warnings_in(lines):
        raise Failure(f"{repaired} fix-its applied, but as many findings as before:\n" + "\n".join(after))


def without_comments(args, name):
    """A copy: the comments must not be found as code by CHECK-FIXES; the lines stay, so that numbers agree."""
    source = pathlib.Path(f"{args.prefix}.{name}{args.file.suffix}").absolute()
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("\n".join(CHECK.sub("//", line) for line in args.file.read_text().split("\n")))
    return source


def test_with(name, run, args):
    source = without_comments(args, name)
    lines = in_file(run(source), source)
    check_messages(args, args.check_suffixes.split(","), lines, f"{args.prefix}.{name}.messages")
    return source, lines


def test_with_tidy(tool, args):
    source, lines = test_with(tool[0], lambda source: run_tidy(tool, args, source)[0], args)
    check_fixes(args, args.check_suffixes.split(","), tool, source, lines)


def main(argv):
    args = parse_arguments(argv)
    tests = [(f"LLVM {tool[0]}", lambda tool=tool: test_with_tidy(tool, args))
             for tool in (args.tool[:1] if args.first_tool_only else args.tool)]
    if args.check:
        tests = [("tensorscope check", lambda: test_with("check", lambda source: run_check(args, source), args))]
    failed = False
    for name, test in tests:
        try:
            test()
        except Failure as failure:
            failed = True
            print(f"{args.file}: failed with {name}: {failure}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
