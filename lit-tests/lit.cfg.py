# SPDX-License-Identifier: Apache-2.0
# The suite: which files are tests, what the substitutions mean, which features the build has.
# Every tool comes from the LLVM that the build found: what is on PATH may be another version.
import os
import shlex
import sys

import lit.formats

config.name = "tensorscope"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".cpp", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.tensorscope_source, "lit-tests")
config.test_exec_root = os.path.join(config.tensorscope_build, "lit-tests")


def in_tools(name):
    return os.path.join(config.tensorscope_tools, name)


def quoted(words):
    return " ".join(shlex.quote(word) for word in words)


root, build = config.test_source_root, config.tensorscope_build
standard = ["-std=c++20"]
stub_flags = standard + ["-isystem", os.path.join(root, "Inputs", "torch-stub")]
torch_flags = standard + ["-I" + os.path.join(config.tensorscope_source, "runtime", "include")]
if config.tensorscope_torch:
    config.available_features.add("torch")
    for part in ("include", "include/torch/csrc/api/include"):
        torch_flags += ["-isystem", os.path.join(config.tensorscope_torch, part)]

comparison = [sys.executable, os.path.join(root, "check_tidy.py"), "--filecheck", in_tools("FileCheck")]
harness = list(comparison)
for major, (tidy, plugin) in sorted(config.tensorscope_plugins.items(), reverse=True):
    config.available_features.add("llvm-" + major)
    config.substitutions.append(("%clang_tidy_" + major, shlex.quote(tidy)))
    config.substitutions.append(("%plugin_" + major, shlex.quote(plugin)))
    harness += ["--tool", major, tidy, plugin]
if config.tensorscope_has_tool:
    config.available_features.add("tensorscope-tool")

# Compiled headers are kept for all tests, and not with the user's.
config.environment["XDG_CACHE_HOME"] = os.path.join(build, "test-cache")
check = os.path.join(build, "bin", "tensorscope")
config.substitutions += [
    ("%check_torch", quoted(comparison + ["--check", check] + ["--flag=" + flag for flag in torch_flags])),
    ("%check_tidy_torch", quoted(harness + ["--first-tool-only"] + ["--flag=" + flag for flag in torch_flags])),
    ("%check_tidy", quoted(harness + ["--flag=" + flag for flag in stub_flags])),
    ("%check_page", quoted([sys.executable, os.path.join(root, "check_page.py")])),
    ("%tensorscope", shlex.quote(check)),
    ("%clangxx", shlex.quote(in_tools("clang++"))),
    ("%filecheck", shlex.quote(in_tools("FileCheck"))),
    ("%torch_flags", quoted(torch_flags)),
    ("%stub_flags", quoted(stub_flags)),
    ("%python", shlex.quote(sys.executable)),
    ("%build_root", shlex.quote(build)),
    ("%source_root", shlex.quote(config.tensorscope_source)),
    ("%not", shlex.quote(in_tools("not"))),
]
