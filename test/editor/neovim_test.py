# SPDX-License-Identifier: Apache-2.0
"""Neovim without a screen shows what tensorscope-clangd publishes. Ends with 77 where there is no Neovim.

  neovim_test.py SERVER
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
STUB = FOLDER.parents[1] / "lit-tests/Inputs/torch-stub"
TEXT = """#include <tensorscope/tensorscope.h>
#include <torch/torch.h>
void late() {
  auto x = torch::randn({101, 7});
  tensorscope::release(x);
  (void)x.sum();
}
"""
SKIPPED = 77


def shown_by(neovim, server, folder):
    """What Neovim has of diagnostics, and the texts that it puts beside lines, once the server has spoken."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(folder / "settings")
    os.environ["TENSORSCOPE_CLANGD"] = str(server)
    os.environ["TENSORSCOPE_SHOWN"] = str(folder / "shown.json")
    command = [neovim, "--headless", "--clean", "-n", "-c", f"luafile {FOLDER / 'neovim_shows.lua'}", "code.cpp"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=400)
    if done.returncode != 0:
        sys.exit(f"{neovim} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads((folder / "shown.json").read_text())


def main(server):
    neovim = shutil.which("nvim")
    if not neovim:
        print("skipped: no nvim on PATH; the package neovim has it")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        (folder / "settings").mkdir()
        (folder / "code.cpp").write_text(TEXT)
        (folder / "compile_flags.txt").write_text(f"-std=c++20\n-isystem\n{STUB}\n")
        shown = shown_by(neovim, pathlib.Path(server).resolve(), folder)
    wanted = [{"line": 6, "code": "tensorscope-use-after-release", "source": "clang-tidy"}]
    print(json.dumps(shown, indent=2))
    if shown["diagnostics"] != wanted or [text["line"] for text in shown["texts"]] != [6]:
        print(f"wanted: {wanted}, and a text beside line 6")
        return 1
    return 0 if "after it was released" in shown["texts"][0]["text"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
