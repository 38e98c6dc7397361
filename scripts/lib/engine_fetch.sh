# shellcheck shell=bash
# Brings an engine of the catalog into the cache with Maven. An engine counts as there only when its folder has its final name,
# which it gets in one step when everything is complete.

# needs_plugin: whether the engine is to have security, and has it from a plugin.
needs_plugin() { [[ ${security:-no} == yes && $engine_security == *:* ]]; }

engine_home() {
  local plugin=''
  if needs_plugin; then plugin=-security; fi
  printf '%s/%s-%s-%s%s\n' "$(cache_folder)" "$engine_family" "$engine_version" "$kRecipe" "$plugin"
}

# artifact_item COORDINATES TYPE FOLDER: one thing to fetch, for the project file.
artifact_item() {
  local group artifact version
  IFS=: read -r group artifact version <<<"$1"
  printf '<artifactItem><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version><type>%s</type><outputDirectory>%s</outputDirectory></artifactItem>\n' \
    "$group" "$artifact" "$version" "$2" "$3"
}

# project_file FOLDER: prints a Maven project that copies all parts of the engine below FOLDER, in one run of Maven.
project_file() {
  local module jar
  cat <<'XML'
<project>
<modelVersion>4.0.0</modelVersion><groupId>lockstep</groupId><artifactId>engine</artifactId><version>1</version><packaging>pom</packaging>
<build><plugins><plugin>
<groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.6.1</version>
<configuration><artifactItems>
XML
  artifact_item "$engine_zip" zip "$1"
  if needs_plugin; then artifact_item "$engine_security" zip "$1/security"; fi
  for module in "${engine_modules[@]}"; do
    while read -r jar; do artifact_item "$jar" jar "$1/modules/$module"; done < <(module_jars "$module")
  done
  echo '</artifactItems></configuration></plugin></plugins></build></project>'
}

# run_logged LOG COMMAND…: its output goes to LOG alone.
run_logged() {
  local log=$1
  shift
  "$@" </dev/null >"$log" 2>&1
}

# run_maven PROJECT: downloads are tried three times, for networks that fail now and then.
run_maven() {
  local attempt log=$1.log strict=(-C) # a file whose checksum is wrong or missing is an error
  [[ -z $engine_sha256 ]] || strict=()
  for attempt in 1 2 3; do
    if busy "fetching $engine" run_logged "$log" mvn -q -B "${strict[@]}" -Dstyle.color=never -f "$1" dependency:copy; then return 0; fi
    ((attempt == 3)) || say "Maven failed; trying again"
  done
  cat "$log" >&2
  return 1
}

# fetch_engine: makes the engine complete in the cache, and sets $home to it.
fetch_engine() {
  home=$(engine_home)
  [[ -d $home ]] || fetch_into_cache "$home"
  ensure_server_user
  server_can_read "$home" ||
    fail "servers run as the user $kServerUser, who can't read $home; set LOCKSTEP_CACHE to a folder that all users may enter"
}

fetch_into_cache() {
  local home=$1 cache stage zip module tool
  cache=$(dirname "$home")
  for tool in mvn unzip; do
    command -v "$tool" >/dev/null || fail "$tool is missing; scripts/install installs it"
  done
  umask 022
  mkdir -p "$cache"
  exec {cache_lock}>"$cache/lock"
  flock "$cache_lock" # one at a time: Maven's own store isn't made for more
  if [[ ! -d $home ]]; then
    say "fetching $engine $engine_version (100 to 200 MB)"
    rm -rf "$cache"/partial.* # left by who was killed: the lock says that nobody is at work
    stage=$cache/partial.$$
    mkdir "$stage"
    project_file "$stage" >"$stage/pom.xml"
    run_maven "$stage/pom.xml" ||
      fail "could not fetch $engine with Maven (see above); check the network and Maven's settings, then try again"
    zip=$stage/$engine_family-$engine_version.zip
    [[ -z $engine_sha256 ]] || sha256sum --check --status <<<"$engine_sha256  $zip" ||
      fail "$(basename "$zip") is not the file that scripts/lib/engine_catalog.sh names (its SHA-256 differs); remove it from Maven's store and try again"
    unzip -q "$zip" -d "$stage/unzipped"
    for module in "${engine_modules[@]}"; do
      module_descriptor "$module" >"$stage/modules/$module/plugin-descriptor.properties"
      module_policy "$module" >"$stage/modules/$module/plugin-security.policy"
      [[ -s $stage/modules/$module/plugin-security.policy ]] || rm "$stage/modules/$module/plugin-security.policy"
      mv "$stage/modules/$module" "$stage/unzipped/$engine_family-$engine_version/modules/"
    done
    if needs_plugin; then
      unzip -q "$stage"/security/*.zip -d "$stage/unzipped/$engine_family-$engine_version/plugins/opensearch-security"
    fi
    chmod +x "$stage/unzipped/$engine_family-$engine_version/bin/"*
    chmod -R go+rX "$stage/unzipped"
    mv -T "$stage/unzipped/$engine_family-$engine_version" "$home"
    rm -rf "$stage"
  fi
  exec {cache_lock}>&-
}
