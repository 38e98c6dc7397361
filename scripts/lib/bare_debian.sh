# shellcheck shell=bash
# A Debian 12 in a folder of the cache, for scripts/installation: systemd and what `scripts/install --servers` brings, but no compiler and
# nothing of ours. It needs $here, cache.sh and message.sh.

readonly kDebianRecipe=1
readonly kDebianDays=7 # then it is made anew: packages that it has to load may be gone from the archive

# bare_debian PACKAGE: prints its folder. What PACKAGE depends on is loaded there, not installed.
bare_debian() {
  local folder cache
  cache=$(cache_folder)
  folder=$cache/debian-12-$kDebianRecipe
  mkdir -p "$cache"
  exec {debian_lock}>"$cache/debian.lock"
  flock "$debian_lock"
  if [[ ! -e $folder || -n $(find "$folder" -maxdepth 0 -mtime "+$kDebianDays") ]]; then
    say "making a Debian 12 in $folder (a minute or two; once a week)"
    rm -rf "$folder" "$folder.new"
    if ! busy "making a Debian 12" make_debian "$folder.new" "$1" >"$cache/debian.log" 2>&1; then
      cat "$cache/debian.log" >&2
      rm -rf "$folder.new"
      return 1
    fi
    touch "$folder.new"
    mv "$folder.new" "$folder"
  fi
  exec {debian_lock}>&-
  printf '%s\n' "$folder"
}

# make_debian FOLDER PACKAGE
make_debian() {
  mmdebstrap --quiet --variant=minbase --include=systemd-sysv,dbus,ca-certificates --skip=cleanup/apt/lists bookworm "$1" || return
  mkdir "$1/tmp/scripts" && cp -a "$here/." "$1/tmp/scripts/" && cp "$2" "$1/tmp/lockstep.deb" || return
  printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d" # nothing is started
  chmod +x "$1/usr/sbin/policy-rc.d"
  unshare --mount --pid --fork chroot "$1" /bin/sh -ec 'mount -t proc proc /proc
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
    bash /tmp/scripts/install --servers
    apt-get -q -y install --no-install-recommends --download-only /tmp/lockstep.deb
    rm -rf /tmp/* /usr/sbin/policy-rc.d /var/lib/man-db/auto-update'
}
