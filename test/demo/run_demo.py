#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo: checks the example project and its clean twin, runs their trainers, shows what a debug build reports of
them, and compares all with what was planted.

  run_demo.py BUILD_FOLDER [EXAMPLES_FOLDER]

Exits 0 when every finding of expected-findings.tsv is there and no other, the clean twin has none, and the trainers
ran to their ends as expected; else 1, after a line for each thing that differs. ./bootstrap demo runs it.
"""
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "test/examples"))
sys.dont_write_bytecode = True # the source tree stays as it is
import check_leaks # the comparison that the tests make

FINDING = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):\d+: (?:warning|error): .*\[tensorscope-(?P<rule>[a-z-]+)")
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# A trainer's program and the line that it must print before it ends with status 0.
TRAINERS = [("example-clean-trainer", "memory: flat"), ("example-planted-trainer", "memory: grows")]


def say(text):
    print(f"\n== {text}", flush=True)


def run_shown(command):
    """Runs a command, shows its output as it comes; gives its exit status and its output without colours."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(COLOUR.sub("", line))
    return process.returncode, lines


def shown_path(path):
    """As short as can be: relative to the folder that the reader is in, where it lies below that."""
    path = pathlib.Path(path).resolve()
    return os.path.relpath(path) if path.is_relative_to(pathlib.Path.cwd()) else str(path)


def expected_findings(examples, twin):
    rows = (line.split("\t") for line in (examples / "expected-findings.tsv").read_text().splitlines()[1:])
    return {(name, int(line), rule) for name, line, rule in rows if name.startswith(f"{twin}/")}


def findings_in(lines, examples):
    found = set()
    for line in lines:
        match = FINDING.match(line)
        if match:
            path = pathlib.Path(match["file"]).resolve()
            name = path.relative_to(examples).as_posix() if path.is_relative_to(examples) else str(path)
            found.add((name, int(match["line"]), match["rule"]))
    return found


def check_twin(build, examples, twin):
    """Checks one twin; yields a line for each difference between what is found and what is expected."""
    sources = sorted(shown_path(path) for path in (examples / twin).glob("*.cpp"))
    colour = "always" if sys.stdout.isatty() else "never"
    command = [shown_path(build / "bin/tensorscope"), "check", "-p", shown_path(build), *sources]
    say(" ".join(command))
    status, lines = run_shown([*command, f"--color={colour}"])
    wanted, found = expected_findings(examples, twin), findings_in(lines, examples)
    for name, line, rule in sorted(wanted - found):
        yield f"{name}:{line}: {rule} was planted and is not found"
    for name, line, rule in sorted(found - wanted):
        yield f"{name}:{line}: {rule} is reported and was not planted"
    if status != (1 if wanted else 0):
        yield f"tensorscope check of {twin}/ ended with status {status}, not {1 if wanted else 0}"


def run_trainer(build, program, line):
    """Runs a trainer; yields a line if it does not end well or does not print what is expected."""
    path = shown_path(build / "bin" / program)
    say(path)
    status, lines = run_shown([path])
    if status != 0:
        yield f"{program} ended with status {status}"
    if not any(text.startswith(line) for text in lines):
        yield f"{program} did not print '{line}'"


def show_report(build, examples, twin):
    """Shows what a debug build says of a twin's trainer at its end; yields a line for each difference."""
    program = build / "bin" / f"example-{twin}-trainer"
    page = build / "demo" / f"{twin}-trainer.html"
    page.unlink(missing_ok=True)
    say(f"TENSORSCOPE_OPTIONS=level=full:report=text,html {shown_path(program)}")
    status, report, text = check_leaks.run(program, page)
    print(text or "(nothing leaked, nothing to report)", flush=True)
    if page.exists():
        print(f"The same as a page for a browser: {shown_path(page)}", flush=True)
    elif text:
        yield f"{program.name} wrote no page"
    for line in check_leaks.differences(examples, twin, status, report):
        yield f"the report of {program.name}: {line}"


def main(arguments):
    build = pathlib.Path(arguments[0]).resolve()
    examples = pathlib.Path(arguments[1] if len(arguments) > 1 else SOURCE / "test/examples").resolve()
    differences = []
    for twin in ("planted", "clean"):
        differences += check_twin(build, examples, twin)
    for program, line in TRAINERS:
        differences += run_trainer(build, program, line)
    for twin in ("clean", "planted"):
        differences += show_report(build, examples, twin)
    planted = expected_findings(examples, "planted")
    if differences:
        say("the demo differs from what was expected:")
        print("\n".join(differences), flush=True)
        return 1
    say(f"{len(planted)} planted mistakes of {len({rule for _, _, rule in planted})} rules found, none on the clean "
        "twin; memory is flat without them and grows with them; what leaks is named with its lines and bytes")
    server = build / "bin/tensorscope-clangd"
    if server.exists():
        print(f"While typing: let your editor start {shown_path(server)} as its clangd (docs/editor.md)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
