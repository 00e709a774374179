# SPDX-License-Identifier: Apache-2.0
"""Whether a Python environment holds every file of the packages in a requirements file, at its full size.

pip writes RECORD last, so an interrupted installation has none; a file cut short by a full disk has another size.
Prints the first thing that is wrong and exits 1. Called by torch.sh; needs nothing but Python.
"""
import csv
import pathlib
import re
import sys


def find_problem(site, name, version):
    """Returns what is wrong with one package in `site`, or None. A version that ends in `*` may be any."""
    pattern = re.sub(r"[-_.]+", "_", name)
    infos = list(site.glob(f"{pattern}-*.dist-info"))
    if len(infos) != 1:
        return f"{name} is not installed once, but {len(infos)} times"
    installed = infos[0].name[len(pattern) + 1 : -len(".dist-info")]
    if not version.endswith("*") and installed.split("+")[0] != version:
        return f"{name} {installed} is installed, not {version}"
    record = infos[0] / "RECORD"
    if not record.exists():
        return f"{name} was not installed to its end"
    with record.open(newline="") as lines:
        for path, _, size in csv.reader(lines):
            file = site / path
            if size and (not file.exists() or file.stat().st_size != int(size)):
                return f"{file} is missing or cut short"
    return None


def main(environment, requirements):
    sites = list(pathlib.Path(environment).glob("lib/python3*/site-packages"))
    if not sites:
        return f"no site-packages in {environment}"
    for line in pathlib.Path(requirements).read_text().splitlines():
        if line and not line.startswith("#"):
            problem = find_problem(sites[0], *line.split("=="))
            if problem:
                return problem
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
