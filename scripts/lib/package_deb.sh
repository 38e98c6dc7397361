# shellcheck shell=bash
# The Debian package, for scripts/package, which sets root, build, output, version, date, symbols and work.

make_deb() {
  local tool package options=noautodbgsym
  for tool in dh lintian; do
    command -v "$tool" >/dev/null || fail "$tool is missing; run: scripts/install"
  done
  [[ $symbols == no ]] || options=''
  mkdir -p "$work/deb/source"
  cp -a "$root/debian" "$work/deb/source/"
  sed -i -e "1s/(.*)/($version)/" -e "s/^\( -- .*>  \).*/\1$date/" "$work/deb/source/debian/changelog"
  if ! (cd "$work/deb/source" && export LOCKSTEP_BUILD=$build DEB_BUILD_OPTIONS=$options &&
    busy packaging dpkg-buildpackage --build=binary --no-check-builddeps --unsigned-changes) >"$work/deb/log" 2>&1; then
    cat "$work/deb/log" >&2
    fail "the package could not be made (see above)"
  fi
  lintian --fail-on error,warning "$work"/deb/lockstep_*.changes >&2 || fail "lintian found mistakes (see above)"
  for package in "$work"/deb/*.deb; do
    mv "$package" "$output/"
    printf '%s\n' "$output/${package##*/}"
  done
}
