# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Configure, build, test, demo: all in build/release. Sourced by ../../bootstrap.

BUILD_DIR=build/release

# As many compilations as there are cores, but 1.5 GiB for each; a container's own limit counts too.
default_jobs() {
  local memory_kib limit jobs
  memory_kib=$(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
  if limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null) && [[ $limit != max ]] && ((limit / 1024 < memory_kib)); then
    memory_kib=$((limit / 1024))
  fi
  jobs=$((memory_kib / 1572864))
  if (($(nproc) < jobs)); then
    jobs=$(nproc)
  fi
  printf '%d\n' $((jobs > 1 ? jobs : 1))
}

# CMake's own refusals come as one line in configure-problem.txt; its other errors are shown as they are.
configure() {
  local torch_jobs=$((JOBS < 2 ? JOBS : 2))
  if ! run_logged "configuring $BUILD_DIR" cmake --preset release "-DTENSORSCOPE_TORCH_DIR=$TORCH_DIR" \
    "-DTENSORSCOPE_LLVM_VERSIONS=$LLVM_VERSIONS" "-DTENSORSCOPE_TORCH_JOBS=$torch_jobs"; then
    if [[ -s $BUILD_DIR/configure-problem.txt ]]; then
      die "$(cat "$BUILD_DIR/configure-problem.txt")"
    fi
    die "cannot configure $BUILD_DIR: $(first_cmake_error); see $LOG"
  fi
  last_logged | sed -n 's/^-- tensorscope: /bootstrap:   /p'
}

# The first error that the last cmake printed, on one line.
first_cmake_error() {
  last_logged | awk '/^(-- |Call Stack)/ && found { exit }
                     /^CMake Error/ { found = 1 }
                     found && NF { $1 = $1; printf "%s%s", gap, $0; gap = " " }'
}

# The demo needs the checker and the example's programs only; for the rest the whole tree is built.
build() {
  local targets=()
  [[ $SUBCOMMAND != demo ]] || targets=(--target tensorscope-demo)
  configure
  say "building with $JOBS jobs ..."
  cmake --build "$BUILD_DIR" --parallel "$JOBS" "${targets[@]}" ||
    fail "the build failed; its first error is above (again: cmake --build $BUILD_DIR)"
}

# The last words are ctest's.
run_tests() {
  ctest --test-dir "$BUILD_DIR" -LE slow --output-on-failure --no-tests=error --parallel "$JOBS"
}

run_demo() {
  python3 test/demo/run_demo.py "$BUILD_DIR"
}
