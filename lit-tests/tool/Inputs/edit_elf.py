#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies an ELF file with its class or machine changed, or cut off: edit_elf.py FROM TO class=N|machine=N|size=N."""
import pathlib
import sys

source, target, change = sys.argv[1:]
name, value = change.split("=")
data = bytearray(pathlib.Path(source).read_bytes())
if name == "class":
    data[4] = int(value)
elif name == "machine":
    data[18:20] = int(value).to_bytes(2, "little")
elif name == "size":
    del data[int(value):]
pathlib.Path(target).write_bytes(data)
pathlib.Path(target).chmod(0o755)
