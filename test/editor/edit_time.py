#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time from an edit to its diagnostics: tensorscope-clangd against a stock clangd on one file.

  edit_time.py SERVER STOCK_CLANGD BUILD_FOLDER FILE [ROUNDS]

Both servers hold the file open. A round edits it once in each, one after the other, and ratios are taken within a
round. Printed are processor time and time passed, the median and the shortest: other programs only ever add time.
"""
import pathlib
import statistics
import sys
import time

from language_server import LanguageServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTLING_S = 1.5  # after its diagnostics a server still works on its index


def processor_time(process):
    """What a process has used in all its threads, in seconds; Linux reads the clock of any process by such a number."""
    return time.clock_gettime(~process.pid << 3 | 2)


def edit(server, path, text):
    """(processor time, time passed) until the diagnostics of an edit are there."""
    used, start = processor_time(server.process), time.monotonic()
    server.change(path, text)
    server.diagnostics(path)
    figures = processor_time(server.process) - used, time.monotonic() - start
    time.sleep(SETTLING_S)
    return figures


def open_in(server, path):
    used = processor_time(server.process)
    server.open(path)
    server.diagnostics(path)
    print(f"  {processor_time(server.process) - used:.1f} s of processor time to open in "
          f"{pathlib.Path(server.process.args[0]).name}")
    time.sleep(2 * SETTLING_S)


def report(what, ours, stock):
    ratio = statistics.median(one / other for one, other in zip(ours, stock))
    print(f"{what}: {statistics.median(ours):.3f} s against {statistics.median(stock):.3f} s, ratio {ratio:.2f}; "
          f"shortest {min(ours):.3f} s against {min(stock):.3f} s, ratio {min(ours) / min(stock):.2f}")


def main(server, stock, build, file, rounds=15):
    path = pathlib.Path(file).resolve()
    options = ["--background-index=false", "-j=1", f"--compile-commands-dir={pathlib.Path(build).resolve()}"]
    with LanguageServer([pathlib.Path(server).resolve(), *options], ROOT, patience=900) as first, \
            LanguageServer([stock, *options], ROOT, patience=900) as second:
        text = path.read_text()
        open_in(first, path)
        open_in(second, path)
        figures = [(edit(first, path, f"{text}// {count}\n"), edit(second, path, f"{text}// {count}\n"))
                   for count in range(int(rounds))]
    for index, what in enumerate(["processor time", "time passed"]):
        report(what, [ours[index] for ours, _ in figures], [stock[index] for _, stock in figures])


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    main(*sys.argv[1:])
