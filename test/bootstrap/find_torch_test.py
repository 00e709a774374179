# SPDX-License-Identifier: Apache-2.0
"""CMake's search for LibTorch: what is found, and the one line for a LibTorch that is absent, broken or too old.

A stand-in LibTorch is made here; it is older than any that serves. Needs cmake, ninja and a compiler.
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROJECT = pathlib.Path(__file__).with_name("torch-project")
OLD_HEADER = """#pragma once
#include <initializer_list>
#include <memory>
namespace c10 {}
namespace at {
struct Tensor { long numel() const; };
__attribute__((visibility("default"))) Tensor ones(std::initializer_list<long>);
}
"""
OLD_SOURCE = '#include <ATen/ATen.h>\nlong at::Tensor::numel() const { return 1; }\nat::Tensor at::ones(std::initializer_list<long>) { return {}; }\n'
HEADERS = ["ATen/core/function_schema.h", "ATen/record_function.h", "c10/core/StorageImpl.h",
           "torch/csrc/autograd/function.h", "torch/csrc/api/include/torch/torch.h"]
VERSION = "#define TORCH_VERSION_MAJOR 1\n#define TORCH_VERSION_MINOR 4\n#define TORCH_VERSION_PATCH 2\n"


def write(root, path, text=""):
    file = pathlib.Path(root, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def compile_library(output, source, *arguments):
    subprocess.run(["c++", "-shared", "-fPIC", "-o", str(output), str(source), *arguments], check=True)


def make_old_torch(root):
    """A LibTorch 1.4.2 that makes tensors, and has none of the features that the runtime needs."""
    write(root, "include/ATen/ATen.h", OLD_HEADER)
    for header in HEADERS:
        write(root, f"include/{header}", "#pragma once\n")
    write(root, "include/torch/csrc/api/include/torch/version.h", VERSION)
    source = write(root, "old.cpp", OLD_SOURCE)
    pathlib.Path(root, "lib").mkdir()
    compile_library(pathlib.Path(root, "lib/libtorch_cpu.so"), source, f"-I{root}/include")
    compile_library(pathlib.Path(root, "lib/libc10.so"), write(root, "empty.cpp"))


class FindTorchTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)
        self.old = self.folder / "old"
        self.old.mkdir()

    def configure(self, *arguments, **environment):
        """Gives cmake's exit status, the one line left for bootstrap, and all output."""
        inherited = {key: value for key, value in os.environ.items() if "TORCH" not in key.upper() and key != "VIRTUAL_ENV"}
        done = subprocess.run(
            ["cmake", "-G", "Ninja", "-S", str(PROJECT), "-B", str(self.folder / "build"), f"-DTENSORSCOPE_MODULES={SOURCE / 'cmake'}", *arguments],
            env={**inherited, **environment}, capture_output=True, text=True, check=False)
        problem = self.folder / "build/configure-problem.txt"
        return done.returncode, problem.read_text() if problem.exists() else "", done.stdout + done.stderr

    def assert_refused(self, configured, *texts):
        status, problem, output = configured
        self.assertNotEqual(status, 0, output)
        self.assertEqual(problem.count("\n"), 1, problem + output)
        for text in texts:
            self.assertIn(text, problem)

    def test_a_libtorch_too_old_is_refused_by_the_feature_it_lacks(self):
        make_old_torch(self.old)
        self.assert_refused(self.configure(f"-DTENSORSCOPE_TORCH_DIR={self.old}"), "LibTorch 1.4.2 in", str(self.old),
                            "too old", "it lacks StorageImpl::release_data", "use 2.15")

    def test_headers_that_do_not_compile_are_said_to_be_so(self):
        make_old_torch(self.old)
        write(self.old, "include/ATen/ATen.h", "#error no\n")
        self.assert_refused(self.configure(f"-DTENSORSCOPE_TORCH_DIR={self.old}"), "lacks headers and a library that serve this compiler")

    def test_a_folder_without_libtorch_is_named_with_who_ordered_it(self):
        for ordered_by, arguments, environment in [
            ("TENSORSCOPE_TORCH_DIR", [f"-DTENSORSCOPE_TORCH_DIR={self.old}"], {}),
            ("ENV{TENSORSCOPE_TORCH_DIR}", ["-DTENSORSCOPE_TORCH_DIR="], {"TENSORSCOPE_TORCH_DIR": str(self.old)}),
            ("Torch_DIR", ["-DTENSORSCOPE_TORCH_DIR=", f"-DTorch_DIR={self.old}/share/cmake/Torch"], {}),
        ]:
            with self.subTest(ordered_by):
                self.assert_refused(self.configure(*arguments, **environment), f"no LibTorch in {self.old} ({ordered_by})")

    def test_a_library_that_libtorch_needs_and_is_nowhere_is_named(self):
        make_old_torch(self.old)
        needed = self.old / "libneeded_by_torch.so"
        compile_library(needed, self.old / "empty.cpp", "-Wl,-soname,libneeded_by_torch.so")
        compile_library(self.old / "lib/libtorch_cpu.so", self.old / "old.cpp", f"-I{self.old}/include",
                        f"-L{self.old}", "-Wl,--no-as-needed", "-lneeded_by_torch")
        self.assert_refused(self.configure(f"-DTENSORSCOPE_TORCH_DIR={self.old}"), "needs libneeded_by_torch.so, found nowhere")
        status, problem, output = self.configure(LD_LIBRARY_PATH=str(self.old))
        self.assertNotIn("found nowhere", problem + output)
        self.assertIn("found 1.4.2", output)
        self.assertNotEqual(status, 0, "still too old")

    def test_the_option_wins_over_the_environment_and_that_over_an_active_environment(self):
        make_old_torch(self.old)
        active = self.folder / "active/lib/python3.11/site-packages/torch"
        active.mkdir(parents=True)
        make_old_torch(active)
        other = self.folder / "other"
        other.mkdir()
        make_old_torch(other)
        surroundings = {"TENSORSCOPE_TORCH_DIR": str(other), "VIRTUAL_ENV": str(self.folder / "active")}
        self.assertIn(f"found 1.4.2 in {self.old}\n", self.configure(f"-DTENSORSCOPE_TORCH_DIR={self.old}", **surroundings)[2])
        self.assertIn(f"found 1.4.2 in {other}\n", self.configure("-DTENSORSCOPE_TORCH_DIR=", **surroundings)[2])

    def test_a_prefix_of_the_project_is_searched_and_wins_over_an_active_environment(self):
        make_old_torch(self.old)
        active = self.folder / "active/lib/python3.11/site-packages/torch"
        active.mkdir(parents=True)
        make_old_torch(active)
        for prefix in [self.old, self.old / "share/cmake", self.old / "share/cmake/"]:
            with self.subTest(prefix):
                output = self.configure(f"-DCMAKE_PREFIX_PATH=/nowhere;{prefix}", VIRTUAL_ENV=str(self.folder / "active"))[2]
                self.assertIn(f"found 1.4.2 in {self.old}\n", output)
        in_environment = self.configure("-DCMAKE_PREFIX_PATH=", CMAKE_PREFIX_PATH=f"/nowhere:{self.old}")[2]
        self.assertIn(f"found 1.4.2 in {self.old}\n", in_environment)

    def test_the_libtorch_that_the_project_has_imported_is_taken(self):
        make_old_torch(self.old)
        imports = write(self.folder, "imports.cmake", f"""
            add_library(torch_cpu SHARED IMPORTED)
            set_target_properties(torch_cpu PROPERTIES IMPORTED_LOCATION "{self.old}/lib/libtorch_cpu.so")""")
        self.assertIn(f"found 1.4.2 in {self.old}\n", self.configure(f"-DCMAKE_PROJECT_find_torch_INCLUDE={imports}")[2])


if __name__ == "__main__":
    unittest.main()
