#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests that need a GPU, under each of CUDA's allocators. Exits 77, with the reason, where they can't run."""
import argparse
import ctypes
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
# The allocator's settings, and what can be asked of it: CUDA's own tells less than LibTorch's.
RUNS = {
    "native": ("backend:native", "GpuTest.*:NativeGpuTest.*"),
    "expandable": ("expandable_segments:True", "GpuTest.*:NativeGpuTest.*"),
    "cudaMallocAsync": ("backend:cudaMallocAsync", "GpuTest.*:DegradedGpuTest.*"),
}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def device_count():
    """As the driver tells it, or the reason why it tells nothing."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return 0, f"no CUDA driver ({error})"
    status = driver.cuInit(0)
    if status != 0:
        return 0, f"the CUDA driver does not start (error {status})"
    count = ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    return count.value, "the CUDA driver has no device"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", required=True, type=pathlib.Path)
    parser.add_argument("--program", default="")
    options = parser.parse_args()
    count, why = device_count()
    if count == 0:
        skip(why)
    if not options.program:
        skip(f"{options.torch}/lib/libtorch_cuda.so can't be linked here: install what it needs (pip install torch) and build again")
    failed = []
    for name, (settings, tests) in RUNS.items():
        environment = dict(os.environ, PYTORCH_ALLOC_CONF=settings, PYTORCH_CUDA_ALLOC_CONF=settings)
        print(f"--- {name}", flush=True)
        command = [options.program, f"--gtest_filter={tests}"]
        if subprocess.run(command, env=environment, check=False).returncode != 0:
            failed.append(name)
    if failed:
        sys.exit("failed with the allocators: " + ", ".join(failed))


if __name__ == "__main__":
    main()
