# shellcheck shell=bash
# The parts of a long run: none is silent, and the end says how long each took.

part_names=() part_seconds=()

# part NAME COMMAND…: runs it in a process group of its own, with a word now and then while it is silent.
part() {
  local name=$1 begun=$SECONDS code=0
  shift
  say "$name"
  run python3 "$here/lib/heartbeat.py" --log "$work/part.log" "$name" "$@" || code=$?
  part_names+=("$name")
  part_seconds+=($((SECONDS - begun)))
  return "$code"
}

# report_parts: how long each part took.
report_parts() {
  local number total=0
  printf '\n%8s  part\n' seconds
  for number in "${!part_names[@]}"; do
    printf '%8d  %s\n' "${part_seconds[number]}" "${part_names[number]}"
    total=$((total + part_seconds[number]))
  done
  printf '%8d  in all, and %d with what ran beside them\n' "$total" "$SECONDS"
}
