#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program and compares its stderr and status with what its source says.

  run_report_test.py --filecheck FILECHECK --status N --prefix WORD --options=OPTIONS --source FILE PROGRAM [argument...]
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filecheck", required=True)
    parser.add_argument("--status", type=int, required=True, help="negative: ended by that signal")
    parser.add_argument("--prefix", required=True, help="EMPTY: stderr must be empty")
    parser.add_argument("--options", required=True, help="TENSORSCOPE_OPTIONS, or an empty text for none")
    parser.add_argument("--source", required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()

    environment = {name: value for name, value in os.environ.items() if name != "TENSORSCOPE_OPTIONS"}
    if given.options:
        environment["TENSORSCOPE_OPTIONS"] = given.options
    done = subprocess.run(given.command, env=environment, capture_output=True, text=True, check=False, timeout=100)
    problems = []
    if done.returncode != given.status:
        problems.append(f"status {done.returncode}, expected {given.status}")
    if given.prefix == "EMPTY":
        if done.stderr:
            problems.append("stderr is not empty")
    else:
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "stderr")
            output.write_text(done.stderr)
            checked = subprocess.run(
                [given.filecheck, given.source, f"--check-prefix={given.prefix}", f"--input-file={output}",
                 "--allow-unused-prefixes"], capture_output=True, text=True, check=False)
        if checked.returncode != 0:
            problems.append(checked.stderr)
    if problems:
        print("\n".join(problems) + f"\n--- stdout\n{done.stdout}--- stderr\n{done.stderr}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
