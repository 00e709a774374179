#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a trainer at level `full` and compares the leaks that it reports with expected-leaks.tsv.

  check_leaks.py PROGRAM planted|clean

Each row of the list is a line of the example that is marked `// LEAKS kind`: the place that makes what leaks, with the
number of tensors there and the bytes, those that a backward pass keeps included.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
STATUS_OF_LEAKS = 23


def expected(folder, twin):
    rows = [line.split("\t") for line in (folder / "expected-leaks.tsv").read_text().splitlines()[1:]]
    return {(name, int(line), kind, int(count), int(size)) for name, line, kind, count, size in rows
            if name.startswith(twin + "/")}


def marked(folder, twin):
    """(file, line, kind) of each marker."""
    for source in sorted((folder / twin).glob("*.*")):
        for number, line in enumerate(source.read_text().splitlines(), 1):
            if "// LEAKS " in line:
                yield source.relative_to(folder).as_posix(), number, line.rsplit("// LEAKS ", 1)[1].strip()


def place(site, folder, twin):
    """File and line of the innermost frame in the twin's own files; of the program's, where it has none there."""
    places = []
    for frame in site["stack"]:
        if frame["user"]:
            path = pathlib.Path(frame["file"])
            places.append((path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path), frame["line"]))
    return next((one for one in places if one[0].startswith(twin + "/")), places[0] if places else ("", 0))


def leaks_in(report, folder, twin):
    return {(*place(leak["site"], folder, twin), leak["kind"], leak["site"]["count"], leak["bytes"])
            for leak in report["leaks"]}


def run(program, page=None):
    """Runs a program at level `full`; gives its status, its report as data (None if there is none) and as text. Puts the
    report as HTML into the file `page`, if one is named and the program writes one."""
    with tempfile.TemporaryDirectory() as name:
        output = pathlib.Path(name, "report")
        forms = "text,json,html" if page else "text,json"
        options = f"level=full:report={forms}:log_path='{output}'"
        done = subprocess.run([program], env=dict(os.environ, TENSORSCOPE_OPTIONS=options), stdout=subprocess.DEVNULL, check=False)
        data, text = output.with_suffix(".json"), output.with_suffix(".txt")
        if page and output.with_suffix(".html").exists():
            page.parent.mkdir(exist_ok=True)
            shutil.copyfile(output.with_suffix(".html"), page)
        return done.returncode, json.loads(data.read_text()) if data.exists() else None, text.read_text() if text.exists() else ""


def differences(folder, twin, status, report):
    """A line for each thing that a run of the twin reports otherwise than listed."""
    if report is None:
        yield f"ended with status {status} and wrote no report"
        return
    wanted, got = expected(folder, twin), leaks_in(report, folder, twin)
    yield from (f"not reported: {row}" for row in sorted(wanted - got))
    yield from (f"reported, but not planted: {row}" for row in sorted(got - wanted))
    right_status = STATUS_OF_LEAKS if wanted else 0
    if status != right_status:
        yield f"ended with status {status}, not {right_status}"


def main(argv):
    program, twin = argv
    status, report, _ = run(program)
    problems = list(differences(FOLDER, twin, status, report))
    if set(marked(FOLDER, twin)) != {row[:3] for row in expected(FOLDER, twin)}:
        problems.append("the markers in the sources differ from expected-leaks.tsv")
    print("\n".join(problems) or "all leaks are reported, and nothing else")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
