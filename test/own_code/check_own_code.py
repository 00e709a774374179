#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `tensorscope check` on this project's own sources and fails on any finding and on any file that is not analysed.

  check_own_code.py --tool TENSORSCOPE --build FOLDER_WITH_COMPILE_COMMANDS [--level N] FOLDER...

Of each folder, relative to the root, the files of the compile database that include LibTorch, themselves or by a header
of ours. They share a precompiled header, which the command makes by itself.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
LIBTORCH = re.compile(r"(torch|ATen|c10)/")


class IncludeGraph:
    """Which files include LibTorch; headers are looked for beside the file and in the folders."""

    def __init__(self, folders):
        self.folders = folders
        self.known = {}

    def reaches_torch(self, file):
        if file in self.known:
            return self.known[file]
        self.known[file] = False  # for a header that includes itself in the end
        names = INCLUDE.findall(file.read_text(errors="replace"))
        self.known[file] = any(LIBTORCH.match(name) for name in names) or any(
            self.reaches_torch(header) for header in map(lambda name: self.find(name, file.parent), names) if header)
        return self.known[file]

    def find(self, name, beside):
        for folder in (beside, *self.folders):
            if (folder / name).is_file():
                return (folder / name).resolve()
        return None


def sources(build, folders):
    database = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    files = {pathlib.Path(entry["directory"], entry["file"]).resolve() for entry in database}
    graph = IncludeGraph([ROOT / "runtime" / "include", ROOT / "runtime" / "src"])
    wanted = [ROOT / folder for folder in folders]
    return sorted(file for file in files if any(folder in file.parents for folder in wanted)
                  and file.suffix == ".cpp" and graph.reaches_torch(file))


def problems(report, files):
    for entry in report["files"]:
        if entry["status"] != "analyzed":
            yield f"{entry['file']}: {entry['status']}"
    if len(report["files"]) != len(files):
        yield f"{len(report['files'])} of {len(files)} files"
    for finding in report["findings"]:
        if not finding["suppressed"]:
            yield f"{finding['file']}:{finding['line']}: {finding['message']} [{finding['rule']}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--level", default="1")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    args = parser.parse_args()
    files = sources(args.build, args.folders)
    if not files:
        sys.exit("no file of these folders includes LibTorch")
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "findings.json")
        done = subprocess.run([args.tool, "check", "-p", args.build, "--level", args.level, "--format", "json",
                               "--output", str(output), *map(str, files)], capture_output=True, text=True)
        if done.returncode not in (0, 1, 2) or not output.exists():
            sys.exit(f"{args.tool} check: exit status {done.returncode}\n{done.stderr}")
        report = json.loads(output.read_text())
    found = list(problems(report, files))
    print("\n".join([*found, f"{len(files)} files, {len(found)} problems"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
