# SPDX-License-Identifier: Apache-2.0
"""A copy of bootstrap in a folder of its own, where the tools that change or read the system are stand-ins.

A stand-in logs its arguments and then runs the shell text that the test gave it. PATH holds nothing but the
stand-ins and the plain tools of TOOLS, so that no test installs anything or reaches a network.
"""
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ["awk", "bash", "cat", "cp", "dirname", "env", "grep", "head", "ls", "mkdir", "python3", "realpath", "rm", "sed",
         "sleep", "tail", "touch", "tr"]
# A Debian 12 with root and all packages, a LibTorch, much space, and a build that works.
USUAL = {
    "apt-cache": 'shift; for p; do printf "%s:\\n  Candidate: 1.0\\n" "$p"; done',
    "apt-get": "true",
    "cmake": "true",
    "ctest": 'echo "100% tests passed, 0 tests failed out of 1"',
    "df": 'case "$*" in *avail*) printf "Avail\\n99999\\n" ;; *) printf "Mounted on\\n/\\n" ;; esac',
    "dpkg": "true",
    "dpkg-query": 'shift 2; for p; do echo "installed $p"; done',
    "id": "echo 0",
    "nproc": "echo 1",
}
DEBIAN_12 = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n'


def has_terminals():
    """Whether a terminal can be opened; a bare root folder without /dev/pts has none."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


class Sandbox:
    """One project folder and one PATH. Use as a context manager; `stand_ins` replace or add to the usual ones."""

    def __init__(self, os_release=DEBIAN_12, torch=True, **stand_ins):
        self._folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self._folder.name, "project")
        self.bin = pathlib.Path(self._folder.name, "bin")
        self.calls = pathlib.Path(self._folder.name, "calls")
        shutil.copytree(SOURCE / "cmake/bootstrap", self.root / "cmake/bootstrap")
        shutil.copy(SOURCE / "bootstrap", self.root)
        self.calls.write_text("")
        self.bin.mkdir()
        for tool in TOOLS:
            self.bin.joinpath(tool).symlink_to(shutil.which(tool))
        for name, text in {**USUAL, **{key.replace("_", "-"): value for key, value in stand_ins.items()}}.items():
            self.stand_in(name, text)
        pathlib.Path(self._folder.name, "os-release").write_text(os_release)
        self.environment = {
            "PATH": str(self.bin), "HOME": self._folder.name,
            "TENSORSCOPE_OS_RELEASE": str(pathlib.Path(self._folder.name, "os-release")),
        }
        if torch:
            self.environment["TENSORSCOPE_TORCH_DIR"] = str(self.make_torch("torch"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def stand_in(self, name, text):
        file = self.bin / name
        file.unlink(missing_ok=True)
        file.write_text(f'#!{shutil.which("bash")}\necho "{name} $*" >>"{self.calls}"\n{text}\n')
        file.chmod(0o755)

    def make_torch(self, name):
        """A folder that looks like a LibTorch to bootstrap, which leaves the probing to CMake."""
        folder = pathlib.Path(self._folder.name, name)
        for file in ["include/torch/csrc/api/include/torch/torch.h", "lib/libtorch_cpu.so"]:
            folder.joinpath(file).parent.mkdir(parents=True, exist_ok=True)
            folder.joinpath(file).write_text("")
        return folder

    def calls_of(self, name):
        return [line for line in self.calls.read_text().splitlines() if line.split()[0] == name]

    def run(self, *arguments, stdin=subprocess.DEVNULL, **environment):
        return subprocess.run([str(self.root / "bootstrap"), *arguments], env={**self.environment, **environment},
                              stdin=stdin, capture_output=True, text=True, timeout=60, check=False)

    def start(self, *arguments):
        """Starts bootstrap in a process group of its own, to be interrupted."""
        return subprocess.Popen([str(self.root / "bootstrap"), *arguments], env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)

    def run_on_terminal(self, answer, *arguments):
        """Runs bootstrap with a terminal as its input, on which somebody types `answer`."""
        master, slave = pty.openpty()
        try:
            os.write(master, answer.encode())
            return self.run(*arguments, stdin=slave)
        finally:
            os.close(master)
            os.close(slave)
