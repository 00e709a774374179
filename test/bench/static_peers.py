#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What stock checkers say of files with marked mistakes, as a table for docs/precision.md.

  static_peers.py --torch FOLDER --include FOLDER [--jobs N] [--tidy PROGRAM] [--clang PROGRAM] [--cppcheck PROGRAM] FILE...

A line with a mistake ends with `// F rule` (or `// F1`, `// F2`, ... where a file tells its rules elsewhere). A peer hits
a mistake if it warns of that line, whatever the words; a warning anywhere else counts as other. LibTorch's headers are
compiled once for the two that can use that.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

WARNING = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):\d*:? (?:warning|error|style|performance|portability)")
MARK = re.compile(r"//\s*F(?:\d+\b| [a-z])")


def flags(args):
    return ["-std=c++20", f"-I{args.include}", "-isystem", f"{args.torch}/include",
            "-isystem", f"{args.torch}/include/torch/csrc/api/include"]


def peers(args, compiled):
    """Name, and the command for a file."""
    headers = ["-include-pch", compiled]
    return {
        "clang-tidy bugprone-*, clang-analyzer-*": lambda file: [
            args.tidy, "--checks=-*,bugprone-*,clang-analyzer-*", "--quiet", file, "--", *flags(args), *headers],
        "clang -Wexperimental-lifetime-safety": lambda file: [
            args.clang, *flags(args), *headers, "-fsyntax-only", "-w", "-Wexperimental-lifetime-safety",
            "-Xclang", "-fexperimental-lifetime-safety", file],
        "clang -Wall -Wextra -Wdangling": lambda file: [
            args.clang, *flags(args), *headers, "-fsyntax-only", "-Wall", "-Wextra", "-Wdangling", file],
        "cppcheck --enable=all": lambda file: [
            args.cppcheck, "--enable=all", "--suppress=missingIncludeSystem", "--suppress=unusedFunction",
            "--suppress=checkersReport", "--inline-suppr", "--quiet", "--template={file}:{line}:{column}: {severity}: {message}",
            file],
    }


def warned_lines(command, file):
    done = subprocess.run(command, capture_output=True, text=True)
    found = set()
    for line in (done.stdout + done.stderr).splitlines():
        match = WARNING.match(line)
        if match and pathlib.Path(match["file"]).name == pathlib.Path(file).name:
            found.add(int(match["line"]))
    return found


def marked_lines(file):
    text = pathlib.Path(file).read_text().splitlines()
    return {number for number, line in enumerate(text, 1) if MARK.search(line)}


def compile_headers(args, folder):
    header, compiled = folder / "all.h", folder / "all.pch"
    header.write_text("#include <torch/torch.h>\n")
    subprocess.run([args.clang, *flags(args), "-w", "-x", "c++-header", "-fpch-instantiate-templates", str(header), "-o",
                    str(compiled)], check=True)
    return str(compiled)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tidy", default="clang-tidy-22")
    parser.add_argument("--clang", default="clang++-22")
    parser.add_argument("--cppcheck", default="cppcheck")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    marks = {file: marked_lines(file) for file in args.files}
    total = sum(len(lines) for lines in marks.values())
    print("| peer | marked lines it warns of | other lines it warns of |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, command in peers(args, compile_headers(args, pathlib.Path(folder))).items():
            warned = dict(zip(args.files, pool.map(lambda file: warned_lines(command(file), file), args.files)))
            hits = sum(len(warned[file] & marks[file]) for file in args.files)
            others = sum(len(warned[file] - marks[file]) for file in args.files)
            print(f"| {name} | {hits} of {total} | {others} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
