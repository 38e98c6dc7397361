# shellcheck shell=bash
# The gate for the look of the sources: clang-format over all of them, clang-tidy over those that are compiled.

# check_format ROOT
check_format() {
  find "$1/replicator" "$1/tests" \( -name '*.cc' -o -name '*.h' \) -print0 | sort -z |
    xargs -0 --no-run-if-empty clang-format --dry-run -Werror
}

# check_tidy ROOT BUILD PASSED: over every compiled source of ROOT, with the commands and the dependencies that BUILD knows. A source
# that has passed is remembered in the folder PASSED, and checked again only when something changes that its outcome depends on:
# itself, a header, its command, the list of checks.
check_tidy() {
  mkdir -p "$3"
  # The analyzer takes most of the time, and finds nothing in a test that the sanitizers would not
  sources_to_tidy "$@" | ROOT=$1 BUILD=$2 xargs -0 -n 2 -P "$(nproc)" --no-run-if-empty bash -c '
    options=(--quiet -p "$BUILD" --extra-arg=-Wno-unknown-warning-option) # only g++ knows all of the warnings
    [[ $2 != "$ROOT/tests/"* ]] || options+=("--checks=-clang-analyzer-*")
    output=$(clang-tidy "${options[@]}" "$2" 2>&1) && : >"$1" && exit
    printf "%s\n" "$output"
    exit 1' tidy
}

# sources_to_tidy ROOT BUILD PASSED: prints the mark to leave and the source, for each that has not passed as it is now.
sources_to_tidy() {
  local root=$1 build=$2 passed=$3 line sum file command source='' mark rules
  local -A digest=() dependencies=()
  cd "$build" || return
  ninja -t deps >tidy.deps
  while read -r sum file; do
    digest[$file]=$sum
  done < <(sed -n 's/^    //p' tidy.deps | grep -v '^/usr/' | sort -u | xargs sha256sum)
  while IFS= read -r line; do
    case $line in
      '    /usr/'*) ;;
      '    '*)
        file=${line#    }
        source=${source:-$file} # a source is the first of its dependencies
        dependencies[$source]+=${digest[$file]}$'\n'
        ;;
      *) source='' ;;
    esac
  done <tidy.deps
  rules=$(clang-tidy --version; cat "$root/.clang-tidy")
  while IFS=$'\t' read -r file command; do
    [[ $file == "$root/replicator/"* || $file == "$root/tests/"* ]] || continue
    [[ -n ${dependencies[$file]:-} ]] || continue # not built: left over, or of no default target
    mark=$passed/$(sha256sum <<<"$rules ${command//"$root"/} ${dependencies[$file]}" | cut -c1-40)
    [[ -e $mark ]] || printf '%s\0%s\0' "$mark" "$file"
  done < <(jq -r '.[] | [.file, .command] | @tsv' compile_commands.json)
}
