# shellcheck shell=bash
# Messages of the scripts. All of them go to standard error: standard output is for data alone.

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# fail MESSAGE [EXIT_CODE]: ends the script; the message says what to do about it.
fail() {
  say "$1"
  exit "${2:-1}"
}

# wrong_usage MESSAGE: exit code 2, as the program has it.
wrong_usage() { fail "$1 (see $0 --help)" 2; }

# busy WHAT COMMAND…: runs it, and says every eight seconds that WHAT still goes on.
busy() {
  local what=$1 begun=$SECONDS ticker code=0
  shift
  (while sleep 8 >/dev/null 2>&1; do say "$what: at work for $((SECONDS - begun)) s"; done) </dev/null &
  ticker=$!
  "$@" || code=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  return "$code"
}
