# shellcheck shell=bash
# What test and benchmark do alike: a temporary folder with servers of its own, a build, and a clean end of all of it. The script
# sets here (its folder), root and preset, and calls own_folder before anything else.

declare -A starters=() # the processes that start servers, by kind
work='' running='' builder='' keep=no # builder: a build beside other work, by its process group
at_end=() # functions that take away what else the script has made

# run COMMAND…: in a process group of its own, waited for so that a signal to this script is not kept waiting.
run() {
  setsid "$@" </dev/null &
  running=$!
  local code=0
  wait "$running" || code=$?
  running=
  return "$code"
}

finish() {
  local code=$? pid folder step
  trap - EXIT
  trap '' INT TERM # nothing interrupts the clean-up
  if [[ -n $running ]]; then
    kill -s TERM -- "-$running" 2>/dev/null || true
    wait "$running" 2>/dev/null || true
  fi
  [[ -z $builder ]] || kill -s TERM -- "-$builder" 2>/dev/null || true
  for step in "${at_end[@]}"; do "$step" || true; done
  for pid in "${starters[@]}"; do kill -s TERM "$pid" 2>/dev/null || true; done
  for pid in "${starters[@]}"; do wait "$pid" 2>/dev/null || true; done
  if [[ -n $work ]]; then
    for folder in "$work/postgresql"*/; do # chaos makes several
      [[ ! -e $folder/server ]] || "$here/postgresql" stop --immediate --data "$folder" || true
    done
    for folder in "$work/engine-"*/; do # and nodes
      [[ ! -e $folder/server ]] || "$here/engine" stop --kill --data "$folder" || true
    done
    stop_engine || true
    ! mountpoint -q "$work/disk" || umount "$work/disk" || true # reindexes --full-disk mounts it
    if [[ $keep == yes ]]; then say "the servers' folders are in $work"; else rm -rf "$work"; fi
  fi
  exit "$code"
}

stop_engine() {
  [[ ! -e $work/engine/server ]] || "$here/engine" stop --data "$work/engine"
  [[ $keep == no || ! -d $work/engine ]] || mv "$work/engine" "$work/$(<"$work/engine/server")"
  rm -rf "$work/engine" "$work/engine.url"
}

cmake_options=()

# build ARGUMENTS…: into $build, which folder_of_preset sets; ARGUMENTS go to cmake --build.
build() {
  cmake -S "$root" --preset "$preset" "${cmake_options[@]}" >"$work/configure.log" 2>&1 || {
    cat "$work/configure.log" >&2
    fail "cmake could not configure the preset $preset (see above)"
  }
  part "build, $preset" cmake --build "$build" "$@" >&2
}

# start_server KIND COMMAND…: starts a server in the background; its URL goes to $work/KIND.url.
start_server() {
  local kind=$1
  shift
  "$@" --data "$work/$kind" >"$work/$kind.url" 2>"$work/$kind.log" </dev/null &
  starters[$kind]=$!
}

# server_url KIND: waits for the server that start_server began, and sets $url.
server_url() {
  local code=0 begun=$SECONDS
  while kill -0 "${starters[$1]}" 2>/dev/null; do
    sleep 0.2
    (((SECONDS - begun) % 9 != 8)) || { say "waiting for the $1: $(tail -n 1 "$work/$1.log")"; sleep 1; }
  done
  wait "${starters[$1]}" || code=$?
  unset "starters[$1]"
  if ((code)); then
    cat "$work/$1.log" >&2
    fail "without this server it cannot continue (see above)"
  fi
  url=$(<"$work/$1.url")
}

# own_folder [PARENT]: makes the temporary folder $work, and sees to it that nothing of it outlives the script.
own_folder() {
  trap finish EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  work=$(mktemp -d "${1:-${TMPDIR:-/tmp}}/lockstep-${0##*/}.XXXXXX")
  chmod 711 "$work" # for the user that the servers run as
}

# memory_folder: prints a folder whose files are in memory, where there is plenty of it. Servers that only tests use sync hundreds of
# files for each database that a test makes and drops: half of the processors' time on a disk.
memory_folder() {
  local folder=/dev/shm gib=$((1024 * 1024))
  [[ -z ${TMPDIR:-} && -w $folder ]] || return 0
  (($(awk '/^MemAvailable/ {print $2}' /proc/meminfo) > 14 * gib && $(df --output=avail -k "$folder" | tail -n 1) > 8 * gib)) || return 0
  ! findmnt --noheadings --output OPTIONS --target "$folder" | grep -qw noexec || return 0 # Elasticsearch loads a library from there
  printf '%s\n' "$folder"
}

# folder_of_preset: sets $build.
folder_of_preset() {
  build=$(jq -r --arg name "$preset" '.configurePresets[] | select(.name == $name) | .binaryDir // empty' "$root/CMakePresets.json")
  [[ -n $build ]] || wrong_usage "there is no preset '$preset'"
  build=${build/'${sourceDir}'/$root}
}
