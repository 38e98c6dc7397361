# shellcheck shell=bash
# Finds an installed Java by its version, without starting it where its `release` file tells.

# java_major HOME: prints the major version of the Java in HOME; fails when there is none.
java_major() {
  local version=
  [[ -x $1/bin/java ]] || return 1
  if [[ -r $1/release ]]; then
    version=$(sed -n 's/^JAVA_VERSION="\([^"]*\)".*/\1/p' "$1/release")
  fi
  [[ -n $version ]] || version=$("$1/bin/java" -version 2>&1 | sed -n 's/.* version "\([^"]*\)".*/\1/p')
  version=${version#1.}
  version=${version%%[!0-9]*}
  [[ -n $version ]] && printf '%s\n' "$version"
}

# java_home LOWEST HIGHEST: prints the home of the oldest Java from LOWEST to HIGHEST; fails when there is none.
# LOCKSTEP_JAVA_HOME, when it fits, comes first.
java_home() {
  local home major best='' best_major=0 on_path=''
  on_path=$(command -v java || true)
  [[ -z $on_path ]] || on_path=$(dirname "$(dirname "$(readlink -f "$on_path")")")
  for home in "${LOCKSTEP_JAVA_HOME:-}" "${JAVA_HOME:-}" "$on_path" /usr/lib/jvm/* /opt/java* /opt/jdk* /opt/*jdk*; do
    if [[ -z $home ]] || ! major=$(java_major "$home"); then continue; fi
    ((major >= $1 && major <= $2)) || continue
    if [[ $home == "${LOCKSTEP_JAVA_HOME:-}" ]]; then
      best=$home
      break
    fi
    if [[ -z $best ]] || ((major < best_major)); then
      best=$home
      best_major=$major
    fi
  done
  [[ -n $best ]] && printf '%s\n' "$best"
}
