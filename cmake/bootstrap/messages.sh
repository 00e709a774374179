# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What bootstrap says and how it gives up: one line, exit code 2 for what is wrong around the project, 1 for a
# build, demo or test that fails. Sourced by ../../bootstrap and by its tests.

say() {
  printf 'bootstrap: %s\n' "$*"
}

# Ends with one line: what is wrong, where, what to do.
die() {
  printf 'bootstrap: %s\n' "$*" >&2
  exit 2
}

fail() {
  printf 'bootstrap: %s\n' "$*" >&2
  exit 1
}

# Runs a command with its output in LOG; the reader sees one line with the time it took.
run_logged() {
  local what=$1 begin=$SECONDS
  shift
  say "$what ..."
  printf '\n$ %s\n' "$*" >>"$LOG"
  "$@" >>"$LOG" 2>&1 </dev/null || return 1
  say "$what: done in $((SECONDS - begin)) s"
}

# What the last logged command wrote.
last_logged() {
  awk '/^\$ / { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }' "$LOG"
}

# The cause of the last logged command's failure, in words; what the tool said last if it is none of the usual ones.
failure_cause() {
  local tail
  tail=$(last_logged)
  case $tail in
    *"No space left on device"* | *"don't have enough free space"*) echo "the disk is full" ;;
    *"Could not get lock"*) echo "another program holds the package manager's lock" ;;
    *"CERTIFICATE_VERIFY_FAILED"*) echo "the server's certificate is not trusted" ;;
    *"Temporary failure resolving"* | *"Could not resolve"* | *"Could not connect"* | *"Unable to connect"* | \
      *"NewConnectionError"* | *"Name or service not known"* | *"Temporary failure in name resolution"* | \
      *"Network is unreachable"* | *"timed out"*) echo "no network" ;;
    *) printf '%s\n' "$tail" | sed '/^[[:space:]]*$/d' | tail -n 1 ;;
  esac
}

# Asks unless told not to; without a terminal there is nobody to ask.
confirm_installation() {
  local answer
  if [[ $ASSUME_YES == yes ]]; then
    return 0
  fi
  if [[ ! -t 0 ]]; then
    die "cannot ask: no terminal; run ./bootstrap $SUBCOMMAND -y to install what is listed above"
  fi
  read -r -p "bootstrap: install them now? [Y/n] " answer || answer=n
  case $answer in
    "" | [Yy] | [Yy][Ee][Ss]) ;;
    *) die "nothing was changed; install what is listed above yourself, or run ./bootstrap $SUBCOMMAND -y" ;;
  esac
}
