# shellcheck shell=bash
# Two versions of lockstep measured in alternation, for scripts/benchmark --compare: the one of a revision, in a worktree of its own
# below the build folder, and the working copy. The benchmarks of the working copy measure both, so that the same is measured; where a
# benchmark has lockstep's code in itself, each version has its own.

readonly kCompared=(counts backfill drain fan_out latency) # when no benchmark is named
readonly kWithCodeInside=" locks tree_move rendering "

# require_comparable REVISION ROUNDS NAME…: wrong usage when the revision is not there or a benchmark keeps no results.
require_comparable() {
  local name
  git -C "$root" rev-parse --quiet --verify "$1^{commit}" >/dev/null || wrong_usage "--compare $1: there is no such revision here"
  (($2 >= 3)) || wrong_usage "--rounds $2: with fewer than 3 runs of each version nothing can be told from noise"
  for name in "${@:3}"; do
    [[ $name != *trigger_cost ]] || wrong_usage "$name keeps no results that could be compared"
  done
}

forget_revision() { git -C "$root" worktree remove --force "$revision_tree"; }

# build_revision REVISION NAME…: builds its lockstep, and its own NAMEs where they have its code in themselves, into $revision_build.
# The folder is always the same one, so that ccache knows what it has built there before.
build_revision() {
  local revision=$1 name targets=(lockstep)
  shift
  revision_tree=$build/compared revision_build=$build/compared/build
  git -C "$root" worktree prune
  [[ ! -e $revision_tree ]] || forget_revision || fail "$revision_tree is in the way: remove it"
  at_end+=(forget_revision)
  git -C "$root" worktree add --quiet --detach "$revision_tree" "$revision" >&2
  for name; do
    if [[ $kWithCodeInside == *" $name "* ]]; then
      [[ -e $revision_tree/tests/bench/$name.cc ]] || fail "$revision has no benchmark $name"
      targets+=("benchmark_$name")
    fi
  done
  cmake -S "$revision_tree" -B "$revision_build" --preset "$preset" >"$work/configure.log" 2>&1 || {
    cat "$work/configure.log" >&2
    fail "cmake could not configure $revision (see above)"
  }
  part "build of $revision" cmake --build "$revision_build" --target "${targets[@]}" >&2 || fail "$revision cannot be built (see above)"
}

# measure_side SIDE NAME FILE OPTIONS…: one run of a benchmark with the version before or after.
measure_side() {
  local side=$1 name=$2 file=$3 program=$build/tests/benchmark_$2 lockstep=$build/lockstep
  if [[ $side == before ]]; then
    lockstep=$revision_build/lockstep
    if [[ $kWithCodeInside == *" $name "* ]]; then program=$revision_build/tests/benchmark_$name; fi
  fi
  LOCKSTEP_TEST_PROGRAM=$lockstep part "$name, $side" "$program" "${@:4}" --json "$file"
}

# compare_revisions REVISION ROUNDS NAMES_COUNT NAME… OPTION…: measures each benchmark in alternation, A B B A A B …, and judges.
compare_revisions() {
  local revision=$1 rounds=$2 names=("${@:4:$3}") options=("${@:4+$3}") name side sides round once folders=() warm=no
  for name in "${names[@]}"; do
    local folder=$build/benchmarks/compare/$name
    rm -rf "$folder"
    mkdir -p "$folder"
    folders+=("$folder")
    once=("${options[@]}")
    if "$build/tests/benchmark_$name" --help | grep -- --rounds >/dev/null; then once+=(--rounds 1); fi
    if [[ $warm == no ]]; then # fresh servers take more CPU for the same
      measure_side after "$name" "$work/warm.json" "${once[@]}"
      warm=yes
    fi
    for ((round = 1; round <= rounds; ++round)); do
      sides=(before after)
      ((round % 2)) || sides=(after before)
      for side in "${sides[@]}"; do measure_side "$side" "$name" "$folder/$side-$round.json" "${once[@]}"; done
    done
  done
  printf '\n'
  python3 -B "$root/tests/bench/compare.py" --before "$revision" "${folders[@]}"
}
