#!/usr/bin/env bash
# Set-up and build: everything into build/. Arguments go to cmake's configure step (-DCMAKE_BUILD_TYPE=Debug ...).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/scripts/setup.sh"
cmake -G Ninja -S "$root" -B "$root/build" --log-level=NOTICE "$@"
cmake --build "$root/build" --parallel "$(nproc)"
