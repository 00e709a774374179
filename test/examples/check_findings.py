#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `tensorscope check` on one twin of the example and compares its findings with expected-findings.tsv.

  check_findings.py --tool TENSORSCOPE --build FOLDER_WITH_COMPILE_COMMANDS planted|clean|workloads
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent


def expected(twin):
    rows = [line.split("\t") for line in (FOLDER / "expected-findings.tsv").read_text().splitlines()[1:]]
    return {(name, int(line), rule) for name, line, rule in rows if name.startswith(twin + "/")}


def relative(name):
    try:
        return pathlib.Path(name).resolve().relative_to(FOLDER).as_posix()
    except ValueError:
        return name


def found(tool, build, twin):
    sources = sorted(str(path) for path in (FOLDER / twin).glob("*.cpp"))
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "findings.json")
        done = subprocess.run([tool, "check", "-p", build, "--format", "json", "--output", str(output), *sources],
                              capture_output=True, text=True)
        if done.returncode not in (0, 1) or not output.exists():
            sys.exit(f"{tool} check: exit status {done.returncode}\n{done.stderr}")
        report = json.loads(output.read_text())
    unread = [entry["file"] for entry in report["files"] if entry["status"] != "analyzed"]
    if unread or len(report["files"]) != len(sources):
        sys.exit(f"not analyzed: {unread or 'some of ' + ' '.join(sources)}")
    return {(relative(f["file"]), f["line"], f["rule"].removeprefix("tensorscope-")) for f in report["findings"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("twin", choices=("planted", "clean", "workloads"))
    args = parser.parse_args()
    wanted, got = expected(args.twin), found(args.tool, args.build, args.twin)
    for name, line, rule in sorted(wanted - got):
        print(f"missed: {name}:{line}: {rule}")
    for name, line, rule in sorted(got - wanted):
        print(f"not expected: {name}:{line}: {rule}")
    print(f"{len(wanted & got)} of {len(wanted)} expected findings")
    return 0 if wanted == got else 1


if __name__ == "__main__":
    sys.exit(main())
