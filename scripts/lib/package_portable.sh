# shellcheck shell=bash
# What runs beside other distributions' libraries, or without any: the archive and the container image, for scripts/package, which
# sets here, root, build, output, version, date and work.

# The libraries whose names or interfaces differ between distributions. The archive brings them along; the others are those of the
# machine. So are the C library (2.34 or newer) and that of C++ (GCC 11's or newer): Debian's needs a later C library than the program.
readonly kPrivate='^lib(prometheus-cpp-core|cpp-httplib|tomlplusplus|simdjson|spdlog|fmt|pqxx|sqlite3|brotli[a-z]*)[-.]'

# GCC 12 gave one function of the C++ library a new version, because it does not throw any more, and keeps the old version beside it.
# With the old one GCC 11's library serves as well, which is that of RHEL 9.
readonly kNewerVersion=GLIBCXX_3.4.30 kOlderVersion=GLIBCXX_3.4.11
readonly kSameFunction=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE # std::condition_variable::wait

# libraries: the paths of what the program loads, and of the loader.
libraries() { ldd "$build/lockstep" | awk '$2 == "=>" {print $3} $1 ~ /^\// {print $1}'; }

# staged: a folder with the installed program, stripped.
staged() {
  local stage=$work/stage
  if [[ ! -d $stage ]]; then
    DESTDIR=$stage cmake --install "$build" --prefix /usr/local >"$work/stage.log" || fail "cmake --install failed: $(<"$work/stage.log")"
    strip "$stage/usr/local/bin/lockstep"
  fi
  printf '%s\n' "$stage/usr/local"
}

make_archive() {
  local name tree library
  command -v patchelf >/dev/null || fail "patchelf is missing; run: scripts/install"
  name=lockstep-$version-linux-$(uname -m)
  tree=$work/archive/$name
  mkdir -p "$tree"
  cp -a "$(staged)/." "$tree/"
  mkdir -p "$tree/lib/lockstep"
  while read -r library; do
    [[ ${library##*/} =~ $kPrivate ]] || continue
    install -m 0644 "$(realpath "$library")" "$tree/lib/lockstep/${library##*/}"
    patchelf --set-rpath '$ORIGIN' "$tree/lib/lockstep/${library##*/}"
  done < <(libraries)
  patchelf --set-rpath '$ORIGIN/../lib/lockstep' "$tree/bin/lockstep"
  python3 -B "$here/lib/older_symbol_version.py" "$kNewerVersion" "$kOlderVersion" "$kSameFunction" -- "$tree/bin/lockstep" "$tree"/lib/lockstep/*.so* ||
    fail "the archive would not run with GCC 11's C++ library (see above)"
  install -m 0755 "$here/lib/install_archive.sh" "$tree/install.sh"
  tar -C "$work/archive" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -c "$name" |
    gzip -9n >"$output/$name.tar.gz"
  printf '%s\n' "$output/$name.tar.gz"
}

make_image() {
  local tree=$work/image library package
  mkdir -p "$tree"/{etc/ssl/certs,etc/lockstep,tmp,usr/bin,usr/lib64,usr/share/doc}
  ln -s usr/bin "$tree/bin"
  ln -s usr/lib "$tree/lib"
  ln -s usr/lib64 "$tree/lib64"
  cp "$(staged)/bin/lockstep" "$tree/usr/bin/"
  while read -r library; do
    case $library in
      /lib64/*) install -D -m 0755 "$(realpath "$library")" "$tree/usr$library" ;;
      *) install -D -m 0644 "$(realpath "$library")" "$tree/usr/lib/$(uname -m)-linux-gnu/${library##*/}" ;;
    esac
  done < <(libraries)
  while read -r package; do
    install -D -m 0644 "/usr/share/doc/$package/copyright" "$tree/usr/share/doc/$package/copyright"
  done < <(packages_of_libraries | cut -d' ' -f1)
  install -D -m 0644 "$root/LICENSE" "$root/THIRD-PARTY.md" -t "$tree/usr/share/doc/lockstep/"
  install -m 0644 /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
  echo 'lockstep:x:65532:65532::/:/usr/bin/lockstep' >"$tree/etc/passwd"
  echo 'lockstep:x:65532:' >"$tree/etc/group"
  echo 'hosts: files dns' >"$tree/etc/nsswitch.conf"
  chmod 1777 "$tree/tmp"
  local created config
  created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
  config=$(jq -n --arg version "$version" '{
    User: "65532:65532", WorkingDir: "/", StopSignal: "SIGTERM",
    Entrypoint: ["/usr/bin/lockstep"], Cmd: ["run"],
    Env: ["PATH=/usr/bin", "LOCKSTEP_CONFIG=/etc/lockstep/lockstep.toml"],
    ExposedPorts: {"9464/tcp": {}},
    Healthcheck: {Test: ["CMD", "/usr/bin/lockstep", "health"], Interval: 10e9, Timeout: 3e9, StartPeriod: 60e9, Retries: 3},
    Labels: {"org.opencontainers.image.title": "lockstep", "org.opencontainers.image.version": $version,
             "org.opencontainers.image.licenses": "Apache-2.0"}}')
  python3 -B "$here/lib/oci_image.py" "$tree" "$output/lockstep-$version-image.tar" --name "lockstep:${version//\~/-}" \
    --config "$config" --time "$SOURCE_DATE_EPOCH" --created "$created"
  printf '%s\n' "$output/lockstep-$version-image.tar"
}

# packages_of_libraries: "PACKAGE VERSION" of each Debian package that the program loads a library of.
packages_of_libraries() {
  local library
  while read -r library; do
    dpkg -S "$library" 2>/dev/null || dpkg -S "$(realpath "$library")" 2>/dev/null || dpkg -S "/usr$library" 2>/dev/null || {
      [[ $library != /usr/* ]] || dpkg -S "${library#/usr}" 2>/dev/null
    } || fail "no Debian package has $library"
  done < <(libraries) | cut -d: -f1 | sort -u | xargs dpkg-query -W -f '${Package} ${Version}\n'
}

# A chart's archive is a tar file of its folder. Its links become what they lead to: alerts and dashboard.
make_chart() {
  local chart=$output/lockstep-$version-chart.tgz
  tar --create --dereference --sort=name --owner=0 --group=0 --numeric-owner --mode=a+rX,u+w,go-w --mtime="@$SOURCE_DATE_EPOCH" \
    -C "$root/config/helm" lockstep | gzip -9n >"$chart"
  printf '%s\n' "$chart"
}
