#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs add_check.py in a copy of the sources, builds a plugin with the new check, and runs its tests.

  add_check_test.py SOURCE_ROOT BUILD_ROOT MAJOR COPY -- CHECK_TIDY...

The plugin is made of BUILD_ROOT's objects; only what the new check changes is compiled. CHECK_TIDY is check_tidy.py with
its options, of which the plugin is replaced by the new one.
"""
import json
import pathlib
import shlex
import shutil
import subprocess
import sys

RULE = "sample-of-a-check"
SENTENCE = "Finds calls of a function that the skeleton of a check names, to show that each part of it works."


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(str(word) for word in command)}\nexit status {done.returncode}\n"
                 f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def copied(source, copy):
    shutil.rmtree(copy, ignore_errors=True)
    for part in ("analyzer", "docs", "lit-tests"):
        shutil.copytree(source / part, copy / part)


def compile_like(build, target, known, source, copy, unit, output):
    """Compiles a file of the copy as the build compiles `known`, which is beside it."""
    row = next(row for row in json.loads((build / "compile_commands.json").read_text())
               if row["file"] == str(source / known) and f"{target}.dir" in row.get("output", row["command"]))
    words = shlex.split(row["command"])
    # What launches the compiler stands before it.
    start = next(number for number, word in enumerate(words) if word.endswith(("c++", "g++", "clang++")))
    words = words[start:]
    words[words.index("-o") + 1] = str(output)
    words[words.index("-c") + 1] = str(copy / unit)
    words = [word.replace(f"-I{source / 'analyzer'}", f"-I{copy / 'analyzer'}") for word in words]
    for flag in ("-MF", "-MT"):
        if flag in words:
            at = words.index(flag)
            words[at + 1] = str(output) + ".d"
    run(*words, cwd=row["directory"])
    return words[0]


def plugin_of(source, build, major, copy):
    target, objects = f"tensorscope-analysis-{major}", []
    for unit in ("analyzer/checks/SampleOfACheck.cpp", "analyzer/checks/Registry.cpp"):
        objects.append(copy / (pathlib.Path(unit).stem + ".o"))
        compiler = compile_like(build, target, "analyzer/checks/Registry.cpp", source, copy, unit, objects[-1])
    for folder in (target, f"tensorscope-tidy-checks-{major}"):
        made = (build / "analyzer" / "CMakeFiles" / f"{folder}.dir").rglob("*.o")
        objects += sorted(path for path in made if path.name != "Registry.cpp.o")
    plugin = copy / "plugin.so"
    run(compiler, "-shared", "-o", plugin, *objects)
    return plugin


def main(argv):
    source, build, major, copy = pathlib.Path(argv[0]), pathlib.Path(argv[1]), argv[2], pathlib.Path(argv[3])
    harness = argv[5:]
    copied(source, copy)
    script = copy / "analyzer" / "scripts" / "add_check.py"
    made = run(sys.executable, script, RULE, "1", SENTENCE).split()
    print(run(sys.executable, copy / "analyzer" / "scripts" / "check_documentation.py"), end="")
    again = subprocess.run([sys.executable, str(script), RULE, "1", SENTENCE], capture_output=True, text=True)
    if again.returncode != 2 or "is there already" not in again.stderr:
        sys.exit(f"the second run was not refused: {again.returncode} {again.stderr}")
    plugin = plugin_of(source, build, major, copy)
    at = harness.index("--tool")
    tool = [major, harness[at + 2], str(plugin)]
    while "--tool" in harness:
        at = harness.index("--tool")
        del harness[at:at + 4]
    harness += ["--tool", *tool]
    rule = f"tensorscope-{RULE}"
    run(*harness, copy / "lit-tests" / "checks" / f"{RULE}.cpp", rule, copy / "cases")
    run(sys.executable, copy / "lit-tests" / "check_page.py", copy / "docs" / "checks" / f"{RULE}.md", rule,
        copy / "page", "--", *harness)
    print(f"{len(made)} files, built and tested")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
