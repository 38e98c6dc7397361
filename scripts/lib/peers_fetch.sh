# shellcheck shell=bash
# Brings the tools that scripts/peers measures into the cache, with the clients of their registries: PGSync into a Python environment,
# Debezium's engine and the program around it into a folder of jars and classes. A tool counts as there only when its folder has its
# final name, which it gets in one step when everything is complete. PGSync's own scripts name the folder that they were made in, so
# they are started by the environment's Python.

readonly kPgSync=7.3.0

# fetch_peers: makes both complete, and sets $peers to their folder.
fetch_peers() {
  local sources=$root/tests/bench/peers recipe
  recipe=$(cat "$sources/pom.xml" "$sources/Replicator.java" "$here/lib/peers_fetch.sh" | sha256sum | cut -c1-12)
  peers=$(cache_folder)/peers-$recipe
  [[ ! -e $peers ]] || return 0
  mkdir -p "$peers.new/debezium/classes"
  busy "fetching PGSync $kPgSync" logged fetch_pgsync || fail "PGSync $kPgSync could not be fetched (see above)"
  busy "fetching Debezium" logged fetch_debezium "$sources" || fail "Debezium could not be fetched or built (see above)"
  mv "$peers.new" "$peers"
}

# logged COMMAND…: shows what it said only when it fails.
logged() {
  "$@" </dev/null >"$work/fetch.log" 2>&1 || {
    cat "$work/fetch.log" >&2
    return 1
  }
}

fetch_pgsync() {
  python3 -m venv --clear "$peers.new/pgsync" && "$peers.new/pgsync/bin/pip" install --quiet "pgsync==$kPgSync"
}

fetch_debezium() {
  mvn -q -B -C -Dstyle.color=never -f "$1/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
    "-DoutputDirectory=$peers.new/debezium/jars" &&
    javac -cp "$peers.new/debezium/jars/*" -d "$peers.new/debezium/classes" "$1/Replicator.java"
}
