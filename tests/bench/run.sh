#!/usr/bin/env bash
# Runs one bench; `tests/bench/run.sh` alone lists them. The machine should be quiet. Figures seen: README.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export SLIPWAY_BUILD_DIR=$root/build SLIPWAY_SOURCE_DIR=$root

# What `import torch` needs beside the wheel that set-up installs without dependencies.
torch_needs=(typing_extensions==4.15.0 filelock==3.20.0 sympy==1.14.0 mpmath==1.3.0 networkx==3.6 jinja2==3.1.6
  MarkupSafe==3.0.3 fsspec==2025.12.0)

with_torch() {
  local extra=$root/.deps/bench
  [[ -d $extra ]] || "$root/.deps/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --target "$extra" "${torch_needs[@]}"
  PYTHONPATH=$extra "$root/.deps/venv/bin/python" "$@"
}

case ${1:-} in
  train_vs_pytorch) with_torch "$here/train_vs_pytorch.py" "${@:2}" ;;
  where_time_goes) "$here/where_time_goes.sh" "${@:2}" ;;
  border) "$root/build/tests/bin/bench_border_bench" "${@:2}" ;;
  steady) python3 "$here/steady.py" "${@:2}" ;;
  layouts) python3 "$here/layouts.py" "${@:2}" ;;
  variants) python3 "$here/variants.py" "${@:2}" ;;
  *)
    echo "usage: $0 train_vs_pytorch | where_time_goes | border | steady | layouts | variants" >&2
    exit 2
    ;;
esac
