# shellcheck shell=bash
# Where scripts keep what costs time to get and may be thrown away: engines, and what clang-tidy has passed.

# cache_folder: LOCKSTEP_CACHE, or the user's cache; root's own is closed to the user that servers run as, so root uses the system's.
cache_folder() {
  if [[ -n ${LOCKSTEP_CACHE:-} ]]; then
    realpath -m "$LOCKSTEP_CACHE"
  elif ((EUID == 0)); then
    echo /var/cache/lockstep
  else
    printf '%s\n' "${XDG_CACHE_HOME:-${HOME:?HOME is not set; set it, or LOCKSTEP_CACHE}/.cache}/lockstep"
  fi
}
