#!/usr/bin/env bash
# More than scripts/test.sh, for a quiet hour: every lint test, clang-tidy on all files, and the tests of units, plugins and
# conformance under AddressSanitizer and UndefinedBehaviorSanitizer, built in build-asan/. --long repeats what is random or
# killed many times more, under the sanitizers and in whole runs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
labels=(unit plugin conformance)

long=
case ${*:-} in
  "") ;;
  --long) long=1 ;;
  *) echo "usage: check.sh [--long]" >&2; exit 2 ;;
esac

part() { printf -- '---- %s (%d s)\n' "$*" "$SECONDS"; }
run_tests() { ctest --test-dir "$1" --output-on-failure --no-tests=error --parallel "$(nproc)" "${@:2}"; }

"$root/scripts/build.sh"

part "lint"
run_tests "$root/build" -L lint
part "clang-tidy on all files"
"$root/.deps/venv/bin/python" "$root/scripts/check_tidy.py" "$root/build" --all

part "sanitizers: build"
cmake -G Ninja -S "$root" -B "$root/build-asan" --log-level=NOTICE -DSLIPWAY_SANITIZE=address,undefined
cmake --build "$root/build-asan" --parallel "$(nproc)" --target "${labels[@]/%/_tests}"
part "sanitizers: tests"
SLIPWAY_TEST_LONG=$long run_tests "$root/build-asan" -L "^($(IFS='|'; echo "${labels[*]}"))$"

if [[ $long ]]; then
  part "long variants of whole runs"
  SLIPWAY_TEST_LONG=1 run_tests "$root/build" -L '^(dist|e2e)$'
fi
part "all checks passed"
