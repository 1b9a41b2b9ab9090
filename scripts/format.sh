#!/usr/bin/env bash
# Formats every source file in place; with --check changes nothing and fails on the first file that would change.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

tool=$root/.deps/venv/bin/clang-format
[[ -x $tool ]] || { echo "format: $tool is missing; run scripts/setup.sh" >&2; exit 2; }

mode=(-i)
[[ ${1:-} != --check ]] || mode=(--dry-run -Werror)
cd "$root"
find core plugin_api plugins launcher tests scripts -type f \
  \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
  xargs -0 -r "$tool" "${mode[@]}" || { echo "format: run scripts/format.sh" >&2; exit 1; }
