#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes FOLDER/compile_commands.json for source files: make_database.py FOLDER FILE... -- FLAG..."""
import json
import pathlib
import sys

split = sys.argv.index("--")
folder, files, flags = pathlib.Path(sys.argv[1]), sys.argv[2:split], sys.argv[split + 1:]
folder.mkdir(parents=True, exist_ok=True)
rows = [
    {"directory": str(folder), "file": file, "arguments": ["clang++", *flags, "-c", file, "-o", f"{number}.o"]}
    for number, file in enumerate(files)
]
(folder / "compile_commands.json").write_text(json.dumps(rows, indent=1))
