# shellcheck shell=bash
# The rest of scripts/installation --library, which sets work, root (the bare Debian, with the package in /walk) and elasticsearch: what
# a stranger does who has nothing but the package of the C++ library, and a compiler.

index=installation-$$
archives=$(cache_folder)/debian-archives # what apt has loaded
mkdir -p "$archives/partial" "$root/archives"
mount --bind "$archives" "$root/archives"
forget() {
  umount -l "$root/archives" 2>/dev/null || true
  curl -sS -o "$work/forgotten" -X DELETE "$elasticsearch/$index-locks,$index-journal" || true
  curl -sS -o "$work/forgotten" -X DELETE "$elasticsearch/_index_template/$index-locks" || true
  end
}
trap forget EXIT

printf '[elasticsearch]\nurls = ["%s"]\n[locks]\nindex = "%s-locks"\n' "$elasticsearch" "$index" >"$root/walk/report.toml"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
unshare --mount --pid --fork chroot "$root" /bin/bash -euo pipefail <<'WALK' || fail "the package of the library does not serve (see above)"
mount -t proc proc /proc
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
cd /walk
install_all() {
  apt-get -q -y -o Dir::Cache::archives=/archives -o APT::Keep-Downloaded-Packages=true install --no-install-recommends \
    ./liblockstep-dev_*.deb g++ cmake make </dev/null
}
# The lists are a week old at most; what has gone from the archive since is in newer ones.
install_all || { apt-get -q update && install_all; }
cmake -S /usr/share/doc/lockstep/examples/cpp -B example
cmake --build example
# shellcheck disable=SC2046
g++ -o linked example/CMakeFiles/report.dir/report.cc.o $(pkg-config --cflags --libs lockstep)
first=$(example/report report.toml)
second=$(./linked report.toml)
[[ $first == 'token '* ]] && ((${second#token } > ${first#token }))
apt-get -q -y purge liblockstep-dev </dev/null
left=$(find / -xdev -path /walk -prune -o -path /proc -prune -o -iname '*lockstep*' -print)
[[ -z $left ]] || { echo "this is left of the package: $left"; exit 1; }
WALK
say "the example has run with the installed library"
