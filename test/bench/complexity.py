#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the analysis grows with the code: programs of each shape in doubling sizes, and the exponent that fits the times.

  complexity.py --tool TENSORSCOPE --stub FOLDER [--shape NAME]... [--json FILE]

Processor time of the analysis alone, as `tensorscope check --timing` counts it, the shortest of some runs. An exponent of 1
is linear. A function that was not analysed (a budget) ends its row: what is skipped is quick.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

GOAL = 1.3
TOO_SHORT = 0.004 # seconds: below it, what is measured is everything else


def function(lines, head="void run(Model &model)"):
    return f"{head} {{\n" + "\n".join(lines) + "\n}\n"


def scopes(n):
    return function(f"float f{i} = tensorscope::with_torch([&] {{ auto t{i} = torch::ones({{2, {i % 7 + 1}}}); "
                    f"return (t{i} * 2).item<float>(); }});" for i in range(n))


def guards(n):
    return function(f"{{ tensorscope::Scope s{i}; model.kept = s{i}.retain(torch::ones({{{i % 7 + 1}}})); }}" for i in range(n))


def handles(n):
    made = [f"torch::Tensor t{i} = torch::ones({{{i % 7 + 1}}});" for i in range(n)]
    return function(made + [f"use(t{i});" for i in range(n)])


def releases(n):
    made = [f"torch::Tensor t{i} = torch::ones({{{i % 7 + 1}}}); tensorscope::release(t{i});" for i in range(n)]
    return function(made + [f"t{i} = torch::ones(3); use(t{i});" for i in range(n)])


def branches(n):
    made = [f"torch::Tensor t{i} = torch::ones({{{i % 7 + 1}}});" for i in range(n)]
    return function(made + [f"if (ask({i})) {{ tensorscope::release(t{i}); }} else {{ use(t{i}); }}" for i in range(n)],
                    "void run(Model &model)")


def guarded(n):
    return function([f"bool b{i} = ask({i}); torch::Tensor t{i} = torch::ones(2);\n"
                     f"if (b{i}) tensorscope::release(t{i});\nif (!b{i}) use(t{i});" for i in range(n)])


def loops(n):
    return function([f"for (int i{i} = 0; i{i} < count(); ++i{i}) {{ model.kept = torch::ones({{2}}) + model.kept; }}" for i in range(n)])


def nested_loops(n):
    return function([f"for (int i{i} = 0; i{i} < count(); ++i{i}) {{ torch::Tensor t{i} = torch::ones(2); use(t{i});" for i in range(n)]
                    + ["}" * n])


def call_chain(n):
    parts = ["torch::Tensor f0(torch::Tensor t) { tensorscope::release(t); return torch::ones(2); }\n"]
    parts += [f"torch::Tensor f{i}(torch::Tensor t) {{ return f{i - 1}(t); }}\n" for i in range(1, n)]
    return "".join(parts) + function([f"auto t = torch::ones(3); auto u = f{n - 1}(t); use(u);"])


def functions(n):
    return "".join(function([f"auto t = torch::ones(3); tensorscope::with_torch([&] {{ model.kept = t + {i}; }}); use(t);"],
                            f"void run{i}(Model &model)") for i in range(n))


def views(n):
    return function(["torch::Tensor t0 = torch::ones({9, 9});"] + [f"torch::Tensor t{i} = t{i - 1}.view({{-1}});" for i in range(1, n)]
                    + ["tensorscope::release(t0);"])


def members(n):
    fields = "".join(f"torch::Tensor m{i};" for i in range(n))
    return (f"struct Many {{ {fields} }};\n" +
            function([f"many.m{i} = torch::ones({i % 7 + 1}); use(many.m{i});" for i in range(n)], "void run(Many &many)"))


def containers(n):
    return function(["std::vector<torch::Tensor> list;"]
                    + [f"list.push_back(torch::ones({i % 7 + 1})); use(list.back());" for i in range(n)])


def long_function(n):
    """Of all kinds, 10 lines each."""
    return function(f"""
torch::Tensor a{i} = torch::ones({{2, {i % 5 + 1}}});
torch::Tensor b{i} = a{i}.view({{-1}});
if (ask({i})) {{
  a{i} = b{i} + 1;
}}
float f{i} = tensorscope::with_torch([&] {{
  auto sum = a{i} + b{i};
  return sum.item<float>();
}});
model.kept = f{i} > 0 ? a{i} : b{i};""" for i in range(n))


# Sizes begin where a row takes a few milliseconds; the last of long_function has 10,000 lines.
SHAPES = {
    "scopes": (scopes, [50, 100, 200, 400, 800]),
    "guards": (guards, [50, 100, 200, 400, 800]),
    "handles": (handles, [100, 200, 400, 800, 1600]),
    "releases": (releases, [50, 100, 200, 400, 800]),
    "branches": (branches, [50, 100, 200, 400, 800]),
    "guarded": (guarded, [50, 100, 200, 400, 800]),
    "loops": (loops, [50, 100, 200, 400, 800]),
    "nested-loops": (nested_loops, [8, 16, 32, 64]),
    "call-chain": (call_chain, [50, 100, 200, 400, 800]),
    "functions": (functions, [50, 100, 200, 400, 800]),
    "views": (views, [50, 100, 200, 400, 800]),
    "members": (members, [50, 100, 200, 400, 800]),
    "containers": (containers, [50, 100, 200, 400, 800]),
    "long-function": (long_function, [62, 125, 250, 500, 1000]),
}

PRELUDE = """#include <tensorscope/tensorscope.h>
#include <torch/torch.h>
#include <vector>
struct Model { torch::Tensor kept; };
void use(const torch::Tensor &);
bool ask(int);
int count();
"""


def analysis_seconds(tool, folder, name, source, stub, runs):
    """The shortest time of some runs, and whether all was analysed."""
    file = folder / f"{name}.cpp"
    file.write_text(PRELUDE + source)
    command = ["clang++", "-std=c++20", "-fbracket-depth=4096", "-isystem", str(stub), "-c", str(file)]
    (folder / "compile_commands.json").write_text(json.dumps([{"directory": str(folder), "file": str(file), "arguments": command}]))
    times, whole = [], True
    for _ in range(runs):
        out = folder / "out.json"
        done = subprocess.run([tool, "check", "-p", folder, "--level", "2", "--timing", "--format", "json", "--output", out, file],
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{name}: the checker ended with status {done.returncode}:\n{done.stderr}")
        result = json.loads(out.read_text())["files"][0]
        whole = whole and not result["functions_not_analyzed"]
        times.append(result["analysis_seconds"])
    return min(times), whole


def exponent(rows):
    """The slope of the line through the logarithms; None for less than three points that say something."""
    points = [(math.log(n), math.log(seconds)) for n, seconds in rows if seconds >= TOO_SHORT]
    if len(points) < 3:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the program tensorscope")
    parser.add_argument("--stub", required=True, type=pathlib.Path, help="the folder of the stub headers")
    parser.add_argument("--shape", action="append", choices=sorted(SHAPES), help="only this one; may be given again")
    parser.add_argument("--runs", type=int, default=3, help="of which the shortest counts")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    results, missed = {}, []
    with tempfile.TemporaryDirectory() as name:
        for shape in arguments.shape or SHAPES:
            make, sizes = SHAPES[shape]
            rows = []
            for n in sizes:
                seconds, whole = analysis_seconds(arguments.tool, pathlib.Path(name), shape, make(n), arguments.stub.resolve(), arguments.runs)
                if not whole:
                    print(f"{shape:14} {n}: over the budget", flush=True)
                    break
                rows.append((n, seconds))
            power = exponent(rows)
            results[shape] = {"seconds": dict(rows), "exponent": power}
            if power is not None and power > GOAL:
                missed.append(shape)
            print(f"{shape:14} exponent {'-   ' if power is None else f'{power:.2f}'}  "
                  + "  ".join(f"{n}: {1000 * seconds:.1f} ms" for n, seconds in rows), flush=True)
    print(f"goal {GOAL}: " + (f"missed by {', '.join(missed)}" if missed else "reached"))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
