# shellcheck shell=bash
# The gate for the look of the sources: clang-format over all of them, clang-tidy over those that are compiled.

# check_format ROOT
check_format() {
  find "$1/replicator" "$1/tests" \( -name '*.cc' -o -name '*.h' \) -print0 | sort -z |
    xargs -0 --no-run-if-empty clang-format --dry-run -Werror
}

# check_tidy ROOT BUILD: what has passed once is checked again only when it, a header, its command or the list of checks has
# changed.
check_tidy() {
  local root=$1 build=$2 common directory file command stamp
  common=$({
    clang-tidy --version
    cat "$root/.clang-tidy"
    find "$root/replicator" "$root/tests" -name '*.h' -print0 | sort -z | xargs -0 cat
  } | sha256sum)
  mkdir -p "$build/tidy"
  while IFS=$'\t' read -r directory file command; do
    [[ $file == "$root/replicator/"* || $file == "$root/tests/"* ]] || continue
    stamp=$build/tidy/$({ printf '%s\n' "$common" "$directory" "$command"; cat "$file"; } | sha256sum | cut -c1-32)
    [[ -e $stamp ]] || printf '%s\0%s\0' "$stamp" "$file"
  done < <(jq -r '.[] | [.directory, .file, .command] | @tsv' "$build/compile_commands.json") |
    BUILD=$build xargs -0 -n 2 -P "$(nproc)" --no-run-if-empty bash -c '
      # Options that only g++ knows are no mistake
      output=$(clang-tidy --quiet -p "$BUILD" --extra-arg=-Wno-unknown-warning-option "$2" 2>&1) && : >"$1" && exit
      printf "%s\n" "$output"
      exit 1' tidy
}
