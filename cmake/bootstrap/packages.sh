# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Debian packages: which are missing, and how they are installed. Sourced by ../../bootstrap and by its tests.

# The packages of packages.txt for the given LLVM and, if not empty, a second one; one a line.
wanted_packages() {
  local llvm=$1 second=$2 package rest
  while read -r package rest; do
    case $package in
      "" | "#"*) continue ;;
      *"{second}"*) [[ -n $second ]] || continue ;;
    esac
    package=${package//"{llvm}"/$llvm}
    printf '%s\n' "${package//"{second}"/$second}"
  done <"$BOOTSTRAP_DIR/packages.txt"
}

# Those of the packages named that are not installed; all of them where there is no dpkg.
missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    if ! grep -qxF "installed $package" <<<"$installed"; then
      printf '%s\n' "$package"
    fi
  done
}

# Packages are installed on Debian 12 only: others name and split them in other ways.
check_distribution() {
  local os_release=$1 id version name
  id=$(sed -n 's/^ID="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$os_release" 2>/dev/null || true)
  version=$(sed -n 's/^VERSION_ID="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$os_release" 2>/dev/null || true)
  name=$(sed -n 's/^PRETTY_NAME="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$os_release" 2>/dev/null || true)
  if [[ $id != debian || $version != 12 ]]; then
    die "cannot install packages on ${name:-this system}, only on Debian 12: install the counterparts of" \
      "cmake/bootstrap/packages.txt yourself, then run cmake --preset release"
  fi
}

# Sets AS_ROOT to what goes before a command that changes the system.
find_root() {
  if [[ $(id -u) == 0 ]]; then
    AS_ROOT=()
  elif ! command -v sudo >/dev/null; then
    die "installing packages needs root, and there is no sudo: as root, apt-get install the packages listed above"
  elif sudo -n true 2>/dev/null || [[ -t 0 ]]; then
    AS_ROOT=(sudo)
  else
    die "installing packages needs root, and sudo would ask for a password, with no terminal: as root," \
      "apt-get install the packages listed above"
  fi
}

# Refreshes the lists only when they do not offer all that is missing: they may be of last year, or not be there.
update_package_lists() {
  local updated=yes unknown
  run_logged "fetching the package lists" "${AS_ROOT[@]}" apt-get -q -o DPkg::Lock::Timeout=600 \
    -o APT::Update::Error-Mode=any update || updated=no
  unknown=$(unknown_packages "$@")
  if [[ -n $unknown && $updated == no ]]; then
    die "cannot fetch the package lists ($(failure_cause)); see $LOG, then run it again"
  elif [[ -n $unknown ]]; then
    die "no package archive of this system has ${unknown//$'\n'/, }: LLVM 22 is in the suite bookworm-security," \
      "the rest in bookworm; add what lacks to /etc/apt/sources.list, then run it again"
  fi
}

# Those of the packages named that the lists do not offer.
unknown_packages() {
  local offered package
  offered=$(LC_ALL=C apt-cache policy "$@" 2>/dev/null | awk '/^[^ ].*:$/ { name = substr($0, 1, length($0) - 1) }
                                                             /^  Candidate: [^(]/ { print name }')
  for package in "$@"; do
    if ! grep -qxF "$package" <<<"$offered"; then
      printf '%s\n' "$package"
    fi
  done
}

install_packages() {
  find_root
  update_package_lists "$@"
  if [[ -n $(dpkg --audit) ]]; then
    run_logged "finishing an interrupted installation" "${AS_ROOT[@]}" dpkg --configure -a ||
      die "dpkg cannot finish an interrupted installation ($(failure_cause)); see $LOG"
  fi
  run_logged "installing $# packages" "${AS_ROOT[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    --no-install-recommends -o DPkg::Lock::Timeout=600 install "$@" ||
    die "cannot install the packages ($(failure_cause)); see $LOG, then run it again"
}
