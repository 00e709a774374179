# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# LibTorch: the one named by the caller, or PyPI's in build/venv. Sourced by ../../bootstrap and by its tests.

TORCH_VENV=build/venv
TORCH_REQUIREMENTS=$BOOTSTRAP_DIR/torch-requirements.txt

# Sets TORCH_DIR to the folder that the caller ordered, or leaves it empty. The probes of the build do the rest.
resolve_ordered_torch() {
  local option=$1 name=--torch folder
  folder=$option
  if [[ -z $folder ]]; then
    folder=${TENSORSCOPE_TORCH_DIR:-} name=TENSORSCOPE_TORCH_DIR
  fi
  TORCH_DIR=
  if [[ -z $folder ]]; then
    return 0
  fi
  if [[ ! -e $folder/include/torch/csrc/api/include/torch/torch.h || ! -e $folder/lib/libtorch_cpu.so ]]; then
    die "no LibTorch in '$folder' ($name): name a folder with include/torch and lib/libtorch_cpu.so"
  fi
  TORCH_DIR=$(realpath "$folder")
}

# The torch folder of build/venv; empty when it is not there yet.
venv_torch() {
  local folder
  for folder in "$PWD/$TORCH_VENV"/lib/python3*/site-packages/torch; do
    if [[ -d $folder ]]; then
      printf '%s\n' "$folder"
      return 0
    fi
  done
}

# Succeeds when build/venv holds all files of the LibTorch wanted, at their full size.
venv_is_complete() {
  [[ -n $(venv_torch) ]] && python3 "$BOOTSTRAP_DIR/verify_torch.py" "$TORCH_VENV" "$TORCH_REQUIREMENTS"
}

wanted_torch_version() {
  sed -n 's/^torch==//p' "$TORCH_REQUIREMENTS"
}

# Makes build/venv anew: one that is not complete cannot be mended by pip, whose cache saves the second download.
install_torch() {
  rm -rf "$TORCH_VENV" build/tmp
  mkdir -p build/tmp
  run_logged "making the Python environment $TORCH_VENV" python3 -m venv "$TORCH_VENV" ||
    die "cannot make $TORCH_VENV ($(failure_cause)); see $LOG, then run it again"
  run_logged "downloading LibTorch $(wanted_torch_version) into $TORCH_VENV" \
    env TMPDIR="$PWD/build/tmp" PIP_USER=0 "$TORCH_VENV/bin/python" -m pip install --no-input \
    --disable-pip-version-check --retries 3 --progress-bar off --no-deps --requirement "$TORCH_REQUIREMENTS" ||
    die "cannot download LibTorch ($(failure_cause)); see $LOG, then run it again, or pass --torch DIR"
  rm -rf build/tmp
  venv_is_complete || die "LibTorch in $TORCH_VENV is not complete; see $LOG, then run it again"
}
