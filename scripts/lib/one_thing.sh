# shellcheck shell=bash
# What `scripts/test UNIT_OR_FILE` means: which program is built for it, and which of its tests are run.

readonly kServerPrograms=(contract integration fault engines)

# program_of FILE: prints the test program that has the file of tests.
program_of() {
  local below=${1#tests/}
  case $below in
    unit/*) below=${below#unit/}; echo "unit_${below%%/*}" ;;
    contract/* | integration/* | fault/* | engines/*) echo "${below%%/*}" ;;
    *) return 1 ;;
  esac
}

# filter_of FILE: prints the filter that selects the file's own tests.
filter_of() {
  local filter
  filter=$(grep -oE '^(TEST|TEST_F|TEST_P|TYPED_TEST)\([A-Za-z0-9_]+, *[A-Za-z0-9_]+' "$root/$1" |
    sed -E 's/^[A-Z_]+\(([A-Za-z0-9_]+), *([A-Za-z0-9_]+)/\1.\2:*\/\1.\2\/*/' | paste -sd:)
  printf '%s\n' "${filter:-*}"
}

# find_one_thing WORD: sets wanted[PROGRAM]=FILTER, or python_test. WORD is a file of tests, a source, a program of tests, or part of the
# name of a test.
declare -A wanted=()
python_test=''
find_one_thing() {
  local word=${1#"$root"/} file program
  word=${word#./}
  [[ $word != */* || -e $root/$word ]] || wrong_usage "there is no file $word"
  case $word in
    replicator/*.cc | replicator/*.h)
      file=tests/unit/${word#replicator/}
      file=${file%.*}_test.cc
      if [[ -e $root/$file ]]; then
        word=$file
      else
        word=${word#replicator/}
        if [[ $word == */* ]]; then word=unit_${word%%/*}; else word=unit_base; fi
      fi
      ;;
    tests/schema/*_test.py | tests/rules/*_test.py | tests/clients/*_test.py | tests/docs/*_test.py | \
      tests/bench/*_test.py | tests/integration/*_test.py | tests/observed/*_test.py | tests/packaging/*_test.py) python_test=$word; return ;;
  esac
  if [[ $word == tests/*.cc ]]; then
    program=$(program_of "$word") || wrong_usage "$word is no file of tests; tests are in tests/unit, contract, integration, fault and engines"
    wanted[$program]=$(filter_of "$word")
  elif [[ " ${kServerPrograms[*]} " == *" $word "* || ($word == unit_* && -d $root/tests/unit/${word#unit_}) ]]; then
    wanted[$word]='*'
  elif [[ $word =~ ^[A-Za-z0-9_]+$ ]]; then
    while read -r file; do
      program=$(program_of "$file") || continue
      wanted[$program]="*$word*"
    done < <(cd "$root" && grep -rlE --include='*.cc' --include='*.h' "^(TEST|TEST_F|TEST_P|TYPED_TEST)\(.*$word|^ *class [A-Za-z]*$word" tests)
  fi
  ((${#wanted[@]})) || wrong_usage "'$1' is no file of tests, no source, no test program and no part of a test's name"
}

needs_servers() {
  local program
  case $python_test in
    tests/schema/* | tests/clients/* | tests/integration/* | tests/observed/*) return 0 ;;
  esac
  for program in "${kServerPrograms[@]}"; do [[ -z ${wanted[$program]:-} ]] || return 0; done
  return 1
}
