#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the table of operators against the LibTorch at hand.

  operators_test.py TORCH_ROOT

The table is what the generator makes of LibTorch's schemas; each operator that LibTorch's own headers declare is in it,
and no other; and its counts are those of the schema file, read as plain text. Exits 77 (skipped) where LibTorch came
without its schemas or is another version than the table's, or where PyYAML is missing.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLE = ROOT / "analyzer" / "model" / "data" / "Operators.def"
GENERATOR = ROOT / "analyzer" / "scripts" / "generate_operators.py"
ROW = re.compile(r'^OPERATOR\((\w+), "(\w+)", (\w+), (\w+), (\w+), (.*), (.*)\)$', re.M)
# Above each operator its header repeats the schema; manual bindings have none.
DECLARED = re.compile(r"^// aten::([^\n]*)\n(?:inline )?[^\n]*?\b(\w+)\(", re.M)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def declared(text):
    """Names that a header declares for operators. The public names of `__dispatch_` functions are written by hand."""
    return {name for _, name in DECLARED.findall(text) if "symint" not in name and not name.startswith("__dispatch_")}


def check_headers(torch, rows):
    problems = []
    functions = {name for form, name, *_ in rows if form == "Function"}
    methods = {name for form, name, *_ in rows if form == "Method"}
    folder = torch / "include" / "ATen"
    seen = set()
    for header in sorted((folder / "ops").glob("*.h")):
        if not re.search(r"_(ops|native|dispatch)\.h$", header.name):
            seen |= declared(header.read_text())
    if len(seen) < 2000:
        problems.append(f"only {len(seen)} operators found in ATen/ops: do its headers look different?")
    problems += [f"at::{name} is declared and has no row" for name in sorted(seen - functions)]
    body = (folder / "core" / "TensorBody.h").read_text()
    in_class = set(re.findall(r"^  [\w:<>,& ]+[ &>](\w+)\([^\n]*\)(?: const)?[ ;{]", body, re.M))
    problems += [f"at::Tensor::{name} has a row and is not declared" for name in sorted(methods - in_class)
                 if name not in inherited(folder)]
    return problems


def inherited(folder):
    """Methods that are written by hand in the base class."""
    return set(re.findall(r"\b(\w+)\(", (folder / "core" / "TensorBase.h").read_text()))


def check_counts(schemas, text):
    lines = re.findall(r"^- func: (.*)$", schemas, re.M)
    said = int(re.search(r"schemas of LibTorch [\d.]+: (\d+),", text).group(1))
    problems = [] if said == len(lines) else [f"the heading counts {said} schemas, the file has {len(lines)}"]
    rows = ROW.findall(text)
    # An in-place method writes its object and gives it back: the schema says `Tensor(a!) self` and `-> Tensor(a!)`.
    written = {re.match(r"\w+", line).group(0) for line in lines
               if re.match(r"\w+_(\.\w+)?\(Tensor\(a!\) self\b.*-> Tensor\(a!\)$", line)}
    roles = {}
    for form, name, _, result, argument, writes, _ in rows:
        if argument in ("ThisArg", "0") and f"to({argument})" in writes and result == "Alias":
            roles.setdefault(name, set()).add(form)
    problems += [f"{name} is in place and its row does not say it" for name in sorted(written - set(roles))]
    if len(written) < 150:
        problems.append(f"only {len(written)} operators in place: does the schema file look different?")
    return problems


def main():
    torch = pathlib.Path(sys.argv[1]).resolve()
    torchgen = torch.parent / "torchgen"
    schemas = torchgen / "packaged" / "ATen" / "native" / "native_functions.yaml"
    if not schemas.exists():
        skip(f"no schemas beside {torch}")
    try:
        import yaml  # noqa: F401  the generator reads with it
    except ImportError:
        skip("no PyYAML")
    text = TABLE.read_text()
    table_version = re.search(r"schemas of LibTorch (\S+):", text).group(1)
    versions = [p.name.split("-")[1].split("+")[0] for p in torch.parent.glob("torch-*.dist-info")]
    version = versions[0].removesuffix(".dist") if versions else "unknown"
    if version != table_version:
        skip(f"the table is of LibTorch {table_version}, this is {version}")
    made = subprocess.run([sys.executable, GENERATOR, "--torchgen", torchgen, "--check", TABLE], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    problems = made.stdout.splitlines()[:40] if made.returncode else []
    problems += check_counts(schemas.read_text(), text) + check_headers(torch, ROW.findall(text))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
