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
