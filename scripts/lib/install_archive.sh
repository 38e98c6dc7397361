#!/bin/sh
# Installs lockstep from this archive, and takes it away again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

usage() {
  cat <<'HELP'
Usage: ./install.sh [--prefix DIR]
       ./install.sh [--prefix DIR] --uninstall

Copies the program, its libraries, the systemd units, man pages and documentation below a folder, default /usr/local, and
makes the system user lockstep and the folder /etc/lockstep where there is a systemd. It starts nothing.

It checks first whether this machine has what the program needs: the C library 2.34 or newer, the C++ library of GCC 11 or
newer, libpq, libcurl, OpenSSL 3, zlib and libsystemd. Debian 12 and 13, Ubuntu 22.04 and 24.04, and RHEL 9 have these.
HELP
}

prefix=/usr/local action=install
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --prefix)
      [ $# -gt 1 ] || { echo "install.sh: --prefix needs a value" >&2; exit 2; }
      prefix=$2
      shift
      ;;
    --uninstall) action=uninstall ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
case $prefix in
  /*) ;;
  *) echo "install.sh: --prefix $prefix is not absolute" >&2; exit 2 ;;
esac
list=$prefix/share/lockstep/installed-files

if [ "$action" = uninstall ]; then
  [ -f "$list" ] || { echo "install.sh: nothing is installed in $prefix" >&2; exit 1; }
  while read -r file; do rm -f "$prefix/$file"; done <"$list"
  rm -f "$list"
  rmdir "$prefix/lib/lockstep" "$prefix/share/lockstep" 2>/dev/null || true
  echo "install.sh: removed; /etc/lockstep and the user lockstep are still there"
  exit 0
fi

missing=$(ldd "$here/bin/lockstep" "$here"/lib/lockstep/*.so* 2>&1 | sed -n -e 's/.*\(lib[^ ]*\) => not found.*/\1/p' -e 's/.*\(GLIBC[A-Z]*_[0-9.]*\).* not found.*/\1/p' | sort -u)
if [ -n "$missing" ]; then
  echo "install.sh: this machine lacks what the program needs:" >&2
  for library in $missing; do
    case $library in
      libpq.so*) echo "  $library: install libpq5 (Debian, Ubuntu) or libpq (RHEL)" ;;
      libcurl.so*) echo "  $library: install libcurl4 or libcurl4t64 (Debian, Ubuntu) or libcurl (RHEL)" ;;
      libssl.so* | libcrypto.so*) echo "  $library: install libssl3 or libssl3t64 (Debian, Ubuntu) or openssl-libs (RHEL)" ;;
      libz.so*) echo "  $library: install zlib1g (Debian, Ubuntu) or zlib (RHEL)" ;;
      libsystemd.so*) echo "  $library: install libsystemd0 (Debian, Ubuntu) or systemd-libs (RHEL)" ;;
      libstdc++.so*) echo "  $library: install libstdc++6" ;;
      GLIBC_*) echo "  $library: the C library is too old; the program needs a newer distribution" ;;
      GLIBCXX_*) echo "  $library: the C++ library is too old, the program needs that of GCC 11 or newer; build it from source here" ;;
      *) echo "  $library" ;;
    esac
  done >&2
  exit 1
fi
"$here/bin/lockstep" --version >/dev/null || { echo "install.sh: the program does not run here (see above)" >&2; exit 1; }

cd "$here"
find bin lib share -type f -o -type l | while read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  cp -P "$file" "$prefix/$file"
done
for unit in "$prefix"/lib/systemd/system/lockstep*.service; do
  sed "s|/usr/local/bin/lockstep|$prefix/bin/lockstep|g" "$unit" >"$unit.new"
  mv "$unit.new" "$unit"
done
find bin lib share -type f -o -type l >"$list"

if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers "$prefix/lib/sysusers.d/lockstep.conf"
  if [ ! -d /etc/lockstep ]; then
    mkdir -p /etc/lockstep
    chown root:lockstep /etc/lockstep
    chmod 0750 /etc/lockstep
  fi
  if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fi
echo "install.sh: $("$prefix/bin/lockstep" --version | head -1) is in $prefix; begin with $prefix/share/doc/lockstep/operations.md"
