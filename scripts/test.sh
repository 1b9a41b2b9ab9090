#!/usr/bin/env bash
# Set-up, build, and every test that needs no GPU. Arguments go to ctest (-L unit, -R mesh, ...).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/scripts/build.sh"
exec ctest --test-dir "$root/build" --output-on-failure --no-tests=error --parallel "$(nproc)" -LE gpu "$@"
