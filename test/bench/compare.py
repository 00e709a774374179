#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark programs in turns and prints what the runtime costs, as ratios and as JSON.

Machines are noisy: every round runs each variant once, a ratio is taken within a round (so that a slow minute slows
both sides), and the median over the rounds is printed with its quartiles. The ratio of the shortest times is printed
too: other programs only ever add time. Processor time is measured, not wall time.
"""
import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

# Variant: the program, the level, and the benchmark. What is compared with what runs the same benchmark: a loop that is
# written with a scope is another machine code, even where the scope is nothing.
VARIANTS = {
    "step, not linked": ("without", None, "training_step"),
    "step, linked, no scope": ("with", "scopes", "training_step"),
    "step, level full, no scope": ("with", "full:leaks=0", "training_step"),
    "step, tensorscope run": ("run", "full:leaks=0", "training_step"),
    "step in a scope, not linked": ("without", None, "training_step_in_scopes"),
    "step in a scope, level off": ("with", "off", "training_step_in_scopes"),
    "step in a scope, level scopes": ("with", "scopes", "training_step_in_scopes"),
    "step in a scope, level full": ("with", "full:leaks=0", "training_step_in_scopes"),
    "resnet in a scope, not linked": ("without", None, "resnet_in_scopes"),
    "resnet in a scope, level scopes": ("with", "scopes", "resnet_in_scopes"),
    "resnet in a scope, level full": ("with", "full:leaks=0", "resnet_in_scopes"),
    "a + b, not linked": ("without", None, "small_addition"),
    "a + b, linked, no scope": ("with", "scopes", "small_addition"),
    "a + b, level full, no scope": ("with", "full:leaks=0", "small_addition"),
    "a + b, tensorscope run": ("run", "full:leaks=0", "small_addition"),
    "a + b in a scope, not linked": ("without", None, "small_addition_in_scopes"),
    "a + b in a scope, level off": ("with", "off", "small_addition_in_scopes"),
    "a + b in a scope, level scopes": ("with", "scopes", "small_addition_in_scopes"),
    "a + b in a scope, level full": ("with", "full:leaks=0", "small_addition_in_scopes"),
    "empty scope": ("with", "scopes", "empty_scope"),
    "empty scope, level off": ("with", "off", "empty_scope"),
    "empty scope, level full": ("with", "full:leaks=0", "empty_scope"),
    "scope with one tensor": ("with", "scopes", "scope_with_one_tensor"),
}
# Other tools that look for leaks, on the program that never heard of the library; with `--peers` only.
PEERS = {
    "step, AddressSanitizer": ("asan", None, "training_step"),
    "step, heaptrack": ("heaptrack", None, "training_step"),
    "step, valgrind memcheck": ("memcheck", None, "training_step"),
    "a + b, AddressSanitizer": ("asan", None, "small_addition"),
    "a + b, heaptrack": ("heaptrack", None, "small_addition"),
    "a + b, valgrind memcheck": ("memcheck", None, "small_addition"),
}
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def run(programs, variant, min_time):
    """Nanoseconds of processor time that one iteration (one addition, for `a + b`) takes."""
    program, level, benchmark = VARIANTS[variant]
    # Left to itself the heap gives memory back and takes it again in some runs of a step and not in others.
    environment = dict(os.environ, OMP_NUM_THREADS="1", MALLOC_TRIM_THRESHOLD_="1073741824",
                       MALLOC_MMAP_THRESHOLD_="1073741824")
    environment.pop("TENSORSCOPE_OPTIONS", None)
    environment["ASAN_OPTIONS"] = "detect_leaks=1"
    environment["LSAN_OPTIONS"] = "exitcode=0"
    if level:
        environment["TENSORSCOPE_OPTIONS"] = f"level={level}"
    command = [*programs[program], f"--benchmark_filter=^{benchmark}$", "--benchmark_format=json",
               f"--benchmark_min_time={min_time}"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([word.replace("{folder}", folder) for word in command], env=environment, capture_output=True,
                              text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compare.py: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    text = done.stdout
    results = json.loads(text[text.index("{"):text.rindex("}") + 1])["benchmarks"]  # heaptrack writes around it
    if len(results) != 1:
        sys.exit(f"compare.py: {' '.join(programs[program])} has no benchmark '{benchmark}'")
    result = results[0]
    if "items_per_second" in result:
        return 1e9 / result["items_per_second"]
    return result["cpu_time"] * NANOSECONDS[result["time_unit"]]


def base_of(variant):
    """The same benchmark in the program that never heard of the library; None if there is none."""
    return next((other for other, row in VARIANTS.items() if row[0] == "without" and row[2] == VARIANTS[variant][2]), None)


def summary(samples):
    ordered = sorted(samples)
    quarter = len(ordered) // 4
    return {"median": statistics.median(ordered), "low": ordered[quarter], "high": ordered[-1 - quarter]}


def compare(programs, order, rounds, min_time):
    times = {variant: [] for variant in order}
    for round_number in range(rounds):
        for variant in order if round_number % 2 == 0 else reversed(order):
            times[variant].append(run(programs, variant, min_time))
        if sys.stderr.isatty():
            print(f"\rround {round_number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
    report = {}
    for variant, samples in times.items():
        entry = {"nanoseconds": summary(samples)}
        base = base_of(variant)
        if base in times and base != variant:
            entry["ratio"] = summary([mine / theirs for mine, theirs in zip(samples, times[base])])
            entry["ratio"]["of_shortest"] = min(samples) / min(times[base])
            entry["compared_with"] = base
        report[variant] = entry
    return report


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def print_text(report, machine, rounds):
    print(f"{machine}, medians of {rounds} rounds (quartiles)")
    for variant, entry in report.items():
        nanoseconds = entry["nanoseconds"]["median"]
        time = f"{nanoseconds / 1000:10.1f} us" if nanoseconds >= 10000 else f"{nanoseconds:10.1f} ns"
        ratio = ""
        if "ratio" in entry:
            values = entry["ratio"]
            ratio = f"  ratio {values['median']:.3f}  ({values['low']:.3f} to {values['high']:.3f}), of the shortest {values['of_shortest']:.3f}"
        print(f"{variant:36}{time}{ratio}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--without", required=True, help="the program built without the library")
    parser.add_argument("--with", dest="with_", required=True, help="the program that links it")
    parser.add_argument("--run", help="the command line `tensorscope`, to run the first one through `tensorscope run`")
    parser.add_argument("--asan", help="the first one built with AddressSanitizer, for `--peers`")
    parser.add_argument("--peers", action="store_true",
                        help="compare other tools as well: AddressSanitizer, and heaptrack and valgrind where installed")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--min-time", type=float, default=0.2, help="seconds a variant runs for in a round")
    parser.add_argument("--only", default="", help="run the variants that start with this, such as 'a + b'")
    parser.add_argument("--json", help="file for the same figures as JSON")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    programs = {"without": [arguments.without], "with": [arguments.with_]}
    if arguments.run:
        programs["run"] = [arguments.run, "run", "--", arguments.without]
    if arguments.peers:
        VARIANTS.update(PEERS)
        if arguments.asan:
            programs["asan"] = [arguments.asan]
        if shutil.which("heaptrack"):
            programs["heaptrack"] = [shutil.which("heaptrack"), "-o", "{folder}/heap", arguments.without]
        if shutil.which("valgrind"):
            programs["memcheck"] = [shutil.which("valgrind"), "--tool=memcheck", "--leak-check=full", "--quiet",
                                    "--log-file=/dev/null", arguments.without]
    for program, *_ in programs.values():
        if not os.access(program, os.X_OK):
            parser.error(f"{program} is no program: build the target bench first")
    order = [variant for variant, row in VARIANTS.items() if variant.startswith(arguments.only) and row[0] in programs]
    if not order:
        parser.error(f"no variant starts with '{arguments.only}'; there are: {'; '.join(VARIANTS)}")
    report = compare(programs, order, arguments.rounds, arguments.min_time)
    machine = f"{cpu_name()}, {os.cpu_count()} processors"
    print_text(report, machine, arguments.rounds)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as output:
            json.dump({"version": 1, "machine": machine, "rounds": arguments.rounds, "variants": report}, output, indent=1)
            output.write("\n")


if __name__ == "__main__":
    main()
