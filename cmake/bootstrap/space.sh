# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Whether the disks can hold what is about to be written. Sourced by ../../bootstrap and by its tests.

# What each part takes in MiB, measured on Debian 12 (amd64) and rounded up.
PACKAGES_MIB=3200
PACKAGES_DOWNLOAD_MIB=500
TORCH_MIB=2100
BUILD_MIB=2000

# require_space FOLDER MIB [FOLDER MIB]...: adds up by file system, so that two needs on one disk are one need.
require_space() {
  local folder mount free
  declare -A needed=()
  while (($# > 1)); do
    folder=$(nearest_folder "$1")
    mount=$(df --output=target "$folder" | tail -n 1)
    needed[$mount]=$((${needed[$mount]:-0} + $2))
    shift 2
  done
  for mount in "${!needed[@]}"; do
    free=$(df --block-size=1M --output=avail "$mount" 2>/dev/null | tail -n 1 | tr -d ' ')
    if ((free < needed[$mount])); then
      die "too little space on $mount: ${free} MiB free, about ${needed[$mount]} MiB needed; free some, then run it again"
    fi
  done
}

# The folder itself, or the nearest one above it that exists.
nearest_folder() {
  local folder=$1
  while [[ ! -d $folder ]]; do
    folder=$(dirname "$folder")
  done
  printf '%s\n' "$folder"
}
