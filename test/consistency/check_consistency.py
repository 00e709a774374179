#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the rules of the tree that no compiler holds: who may include whom, licence lines, paths, lengths.

Prints `file:line: what is wrong` for each violation and exits 1 if there is one. Lengths only warn.
Usage: check_consistency.py [ROOT]. Run by ctest; consistency_test.py shows that each rule catches its violation.
"""
import pathlib
import posixpath
import re
import sys

# Layer (a folder or a file) -> the layers it may include besides itself. A file belongs to the longest that fits.
ARROWS = {
    "analyzer/utils": [],
    "analyzer/model": ["analyzer/utils"],
    "analyzer/dataflow": ["analyzer/model", "analyzer/utils"],
    "analyzer/checks": ["analyzer/dataflow", "analyzer/model", "analyzer/utils"],
    "analyzer": ["analyzer/checks", "analyzer/dataflow", "analyzer/model", "analyzer/utils"],
    "runtime/include": [],
    "runtime/src/platform": [],
    "runtime/src/options.inc": [],
    "runtime/src/core": ["runtime/include", "runtime/src/options.inc", "runtime/src/platform"],
    "runtime/src/formats": [],
    "runtime/src/report": [
        "runtime/include", "runtime/src/core", "runtime/src/platform", "runtime/src/hooks", "runtime/src/formats",
    ],
    "runtime/src/hooks": ["runtime/include", "runtime/src/core", "runtime/src/platform"],
    "runtime": [
        "runtime/include", "runtime/src/options.inc", "runtime/src/platform", "runtime/src/core", "runtime/src/report", "runtime/src/formats",
        "runtime/src/hooks",
    ],
}
# Where an include in quotes or brackets may lead to, after the includer's own folder.
INCLUDE_ROOTS = ["analyzer", "runtime/include", "runtime/src", "runtime"]

# (layers, pattern of included paths, reason). Followed through our own headers where the last field says so.
FORBIDDEN_INCLUDES = [
    (["analyzer/model"], r"clang/Analysis/CFG|clang/Analysis/FlowSensitive/", "model knows no control flow", False),
    (["analyzer/utils", "analyzer/model", "analyzer/dataflow", "analyzer/checks"], r"clang-tidy/",
     "the core has no clang-tidy type", False),
    (["runtime/src/core", "runtime/src/platform"], r"(torch|ATen|c10|caffe2)/", "no LibTorch header in this layer", True),
]
FORBIDDEN_CODE = [(["analyzer/dataflow"], r"\bdiag\s*\(", "dataflow reports findings as data, never with diag()")]

SOURCE_SUFFIXES = {".h", ".cpp", ".inc", ".py", ".sh", ".cmake"}
LICENSED_NAMES = {"CMakeLists.txt", "bootstrap", "run"}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".md", ".json", ".yml", ".yaml", ".txt", ".in", ".tsv", ".supp"}
SKIPPED_FOLDERS = {".git", "build", ".cache", "__pycache__"}
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:home|root|work|Users)/[\w.-]+")
REGISTRY_HOST = re.compile(r"\b(?:pypi|files\.pythonhosted|deb\.debian|snapshot\.debian|apt\.llvm)\.org\b")
LICENSE_LINE = "SPDX-License-Identifier: Apache-2.0"
MOST_LINES = [("analyzer/checks", ".cpp", 250), ("", "", 400)]

INCLUDE = re.compile(r'^\s*#\s*(?:include|import)\s*["<]([^">]+)[">]')
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def files_of(root):
    """All text files of the tree as (path relative to root, text), in order."""
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if SKIPPED_FOLDERS.intersection(relative.parts) or not path.is_file():
            continue
        if path.suffix in TEXT_SUFFIXES or path.name in LICENSED_NAMES:
            yield relative.as_posix(), path.read_text(encoding="utf-8", errors="replace")


def layer_of(path):
    fitting = [layer for layer in ARROWS if path == layer or path.startswith(layer + "/")]
    return max(fitting, key=len, default=None)


class Includes:
    """The include lines of every source of the two halves, each led to a file of ours where there is one."""

    def __init__(self, texts):
        self.texts = texts
        self.lines = {path: list(self._lines(text)) for path, text in texts.items() if layer_of(path)}

    @staticmethod
    def _lines(text):
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1)

    def target(self, includer, name):
        for folder in [includer.rpartition("/")[0], *INCLUDE_ROOTS]:
            candidate = posixpath.normpath(posixpath.join(folder, name))
            if candidate in self.texts:
                return candidate
        return None

    def reach(self, path, pattern, seen=None):
        """The first included name, through our own headers, that fits the pattern; None if none does."""
        seen = set() if seen is None else seen
        seen.add(path)
        for _, name in self.lines.get(path, []):
            if re.match(pattern, name):
                return name
            target = self.target(path, name)
            if target and target not in seen:
                found = self.reach(target, pattern, seen)
                if found:
                    return found
        return None


def arrow_violations(includes):
    checks = checks_among(includes.texts)
    for path, lines in includes.lines.items():
        layer = layer_of(path)
        for number, name in lines:
            target = includes.target(path, name)
            target_layer = layer_of(target) if target else None
            if target_layer and target_layer != layer and target_layer not in ARROWS[layer]:
                yield f"{path}:{number}: {layer} must not include {target_layer} ({name})"
            elif target and stem(path) != stem(target) and {path, target} <= checks:
                yield f"{path}:{number}: a check must not include another check ({name})"


def checks_among(texts):
    """The files of checks, not of what they share: those that have a page, FooBar.cpp by docs/checks/foo-bar.md."""
    pages = {stem(path) for path in texts if path.startswith("docs/checks/")}
    sources = [path for path in texts if path.startswith("analyzer/checks/")]
    return {path for path in sources if re.sub(r"(?<!^)(?=[A-Z])", "-", stem(path)).lower() in pages}


def stem(path):
    return pathlib.PurePosixPath(path).stem


def forbidden_include_violations(includes):
    for layers, pattern, reason, follow in FORBIDDEN_INCLUDES:
        for path, lines in includes.lines.items():
            if layer_of(path) not in layers:
                continue
            for number, name in lines:
                target = includes.target(path, name)
                found = name if re.match(pattern, name) else None
                if follow and target and not found:
                    found = includes.reach(target, pattern)
                if found:
                    through = "" if found == name else f" through {name}"
                    yield f"{path}:{number}: {reason}, but {found} is included{through}"


def forbidden_code_violations(texts):
    for layers, pattern, reason in FORBIDDEN_CODE:
        for path, text in texts.items():
            if layer_of(path) in layers:
                code = COMMENT_OR_STRING.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
                for match in re.finditer(pattern, code):
                    yield f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {reason}"


def license_violations(texts):
    for path, text in texts.items():
        name = pathlib.PurePosixPath(path)
        if name.suffix in SOURCE_SUFFIXES or name.name in LICENSED_NAMES:
            if not any(LICENSE_LINE in line for line in text.splitlines()[:3]):
                yield f"{path}:1: no line '{LICENSE_LINE}' at the head"


def machine_violations(texts):
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, what in [(MACHINE_PATH, "a path of one machine"), (REGISTRY_HOST, "the host of a registry")]:
                match = pattern.search(line)
                if match:
                    yield f"{path}:{number}: {what}: {match.group()}"


def length_warnings(texts):
    for path, text in texts.items():
        if pathlib.PurePosixPath(path).suffix in SOURCE_SUFFIXES:
            most = next(lines for start, end, lines in MOST_LINES if path.startswith(start) and path.endswith(end))
            if text.count("\n") > most:
                yield f"{path}:1: {text.count(chr(10))} lines, {most} are wanted at most"


def violations(texts):
    includes = Includes(texts)
    yield from arrow_violations(includes)
    yield from forbidden_include_violations(includes)
    yield from forbidden_code_violations(texts)
    yield from license_violations(texts)
    yield from machine_violations(texts)


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    texts = dict(files_of(root))
    if not texts:
        print(f"{root}: nothing to check there")
        return 2
    for line in length_warnings(texts):
        print(f"{line} (warning)")
    found = list(violations(texts))
    for line in found:
        print(line)
    print(f"{len(texts)} files, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
