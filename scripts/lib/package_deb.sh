# shellcheck shell=bash
# The Debian packages, for scripts/package, which sets root, build, output, version, date, symbols and work.

make_deb() { make_debian_package lockstep liblockstep-dev; }
make_dev() { make_debian_package liblockstep-dev lockstep; }

# build_debian_package NAME OTHER OPTIONS: what make_debian_package has put into its folder; its words go to the log there.
build_debian_package() {
  (cd "$work/$1/source" && export LOCKSTEP_BUILD=$build DEB_BUILD_OPTIONS=$3 DH_OPTIONS=--no-package=$2 &&
    dpkg-buildpackage --build=binary --no-check-builddeps --unsigned-changes) >"$work/$1/log" 2>&1
}

# make_debian_package NAME OTHER: of the two packages of debian/control the one with this name.
make_debian_package() {
  local tool package options=noautodbgsym
  for tool in dh lintian; do
    command -v "$tool" >/dev/null || fail "$tool is missing; run: scripts/install"
  done
  [[ $symbols == no ]] || options=''
  mkdir -p "$work/$1/source"
  cp -a "$root/debian" "$work/$1/source/"
  sed -i -e "1s/(.*)/($version)/" -e "s/^\( -- .*>  \).*/\1$date/" "$work/$1/source/debian/changelog"
  if ! busy packaging build_debian_package "$1" "$2" "$options"; then
    cat "$work/$1/log" >&2
    fail "the package could not be made (see above)"
  fi
  busy 'looking for mistakes' lintian --fail-on error,warning "$work/$1"/lockstep_*.changes >&2 || fail "lintian found mistakes (see above)"
  for package in "$work/$1"/*.deb; do
    mv "$package" "$output/"
    printf '%s\n' "$output/${package##*/}"
  done
}
