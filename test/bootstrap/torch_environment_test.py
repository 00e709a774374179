# SPDX-License-Identifier: Apache-2.0
"""How bootstrap makes build/venv, notices that it is broken, and goes on after an interruption."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from sandbox import SOURCE, Sandbox

VERIFY = SOURCE / "cmake/bootstrap/verify_torch.py"
REQUIREMENTS = {"torch": "2.15.0", "nvidia-cuda-runtime": "13.2.86", "nvidia-cuda-crt": "13.2.86",
                "nvidia-cuda-cupti": "13.2.86"}
# A python3 that makes an environment whose pip installs what the folder `wheel` beside it holds.
MAKES_AN_ENVIRONMENT = """
case "$*" in
  "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  "-m pip install "*) {pip} ;;
  *) exec {python} "$@" ;;
esac"""


def fill_site(site, packages=None):
    """Installs a file of each package with its RECORD, as pip would."""
    for name, version in (packages or REQUIREMENTS).items():
        module = name.replace("-", "_")
        (site / module).mkdir(parents=True)
        (site / module / "code.py").write_text("12345")
        info = site / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "RECORD").write_text(f"{module}/code.py,sha256=x,5\n{info.name}/RECORD,,\n")


class VerifyTorchTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.site = pathlib.Path(self._folder.name, "lib/python3.11/site-packages")
        self.site.mkdir(parents=True)

    def verify(self):
        done = subprocess.run([sys.executable, VERIFY, self._folder.name, SOURCE / "cmake/bootstrap/torch-requirements.txt"],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_whole_environment_is_complete(self):
        fill_site(self.site)
        self.assertEqual(self.verify(), (0, ""))

    def test_another_release_of_the_cuda_libraries_serves(self):
        fill_site(self.site, {**REQUIREMENTS, "nvidia-cuda-cupti": "13.5.25"})
        self.assertEqual(self.verify()[0], 0)

    def assert_incomplete(self, text):
        status, output = self.verify()
        self.assertEqual(status, 1)
        self.assertIn(text, output)

    def test_another_torch_is_not(self):
        fill_site(self.site, {**REQUIREMENTS, "torch": "2.14.1"})
        self.assert_incomplete("torch 2.14.1 is installed, not 2.15.0")

    def test_a_missing_package_is_named(self):
        fill_site(self.site, {"torch": "2.15.0"})
        self.assert_incomplete("nvidia-cuda-runtime is not installed")

    def test_an_installation_cut_off_before_its_end_is_found(self):
        fill_site(self.site)
        (self.site / "torch-2.15.0.dist-info/RECORD").unlink()
        self.assert_incomplete("torch was not installed to its end")

    def test_a_file_cut_short_or_lost_is_named(self):
        fill_site(self.site)
        (self.site / "torch/code.py").write_text("123")
        self.assert_incomplete("torch/code.py is missing or cut short")
        (self.site / "torch/code.py").unlink()
        self.assert_incomplete("torch/code.py is missing or cut short")

    def test_an_empty_environment_is_found(self):
        self.assert_incomplete("torch is not installed")


class TorchEnvironmentTest(unittest.TestCase):
    def sandbox(self, pip):
        box = Sandbox(torch=False)
        self.addCleanup(box.__exit__)
        wheel = box.root.parent / "wheel"
        fill_site(wheel)
        (wheel / "torch/include").mkdir()
        text = MAKES_AN_ENVIRONMENT.format(pip=pip.format(wheel=wheel), python=shutil.which("python3"))
        box.stand_in("python3", text)
        return box

    INSTALL = 'site=$(dirname "$0")/../lib/python3.11/site-packages; mkdir -p "$site"; cp -r {wheel}/. "$site"'

    def test_it_is_made_once_and_only_checked_afterwards(self):
        box = self.sandbox(self.INSTALL)
        first = box.run("build", "-y")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("LibTorch 2.15.0, from PyPI into build/venv", first.stdout)
        installation = next(line for line in box.calls_of("python3") if " pip install " in line)
        for word in ["--no-deps", "--no-input", "torch-requirements.txt"]:
            self.assertIn(word, installation)
        self.assertIn(f"-DTENSORSCOPE_TORCH_DIR={box.root}/build/venv/lib/python3.11/site-packages/torch", box.calls_of("cmake")[0])
        box.calls.write_text("")
        self.assertIn("nothing is missing", box.run("build").stdout)
        self.assertFalse([line for line in box.calls_of("python3") if "pip" in line or "venv " in line and "-m" in line])

    def test_a_broken_one_is_made_anew(self):
        box = self.sandbox(self.INSTALL)
        box.run("build", "-y")
        (box.root / "build/venv/lib/python3.11/site-packages/torch/code.py").write_text("")
        (box.root / "build/venv/left-over").write_text("")
        again = box.run("build", "-y")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertFalse((box.root / "build/venv/left-over").exists())
        self.assertIn("nothing is missing", box.run("build").stdout)

    def test_a_failed_download_is_one_line_and_the_next_run_goes_on(self):
        for words, cause in [
            ("NewConnectionError: Name or service not known; No matching distribution found", "no network"),
            ("OSError: [Errno 28] No space left on device", "the disk is full"),
            ("ERROR: CERTIFICATE_VERIFY_FAILED", "the server's certificate is not trusted"),
            ("ERROR: something new", "ERROR: something new"),
        ]:
            with self.subTest(cause):
                flag = "[ -e flag ] && {{ " + self.INSTALL + "; exit 0; }}; "
                box = self.sandbox(flag + f'touch flag; mkdir -p build/venv/lib; echo "{words}"; exit 1')
                done = box.run("build", "-y")
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(f"cannot download LibTorch ({cause})", done.stderr)
                self.assertEqual(box.run("build", "-y").returncode, 0)

    def test_too_little_space_is_found_before_the_download(self):
        box = self.sandbox(self.INSTALL)
        box.stand_in("df", 'case "$*" in *avail*) printf "Avail\\n900\\n" ;; *) printf "Mounted on\\n/data\\n" ;; esac')
        done = box.run("build", "-y")
        self.assertEqual(done.returncode, 2)
        self.assertIn("too little space on /data: 900 MiB free, about 4100 MiB needed", done.stderr)
        self.assertFalse((box.root / "build/venv").exists())


if __name__ == "__main__":
    unittest.main()
