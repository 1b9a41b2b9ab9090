#!/usr/bin/env bash
# Where a training run of gpt_384.json spends its processor time, by Linux perf: per cent of samples of all threads.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
command -v perf >/dev/null || { echo "perf is not installed (Debian: linux-perf)" >&2; exit 2; }
data=$(mktemp)
trap 'rm -f "$data"' EXIT
GOMP_SPINCOUNT=1000 perf record -q -F 499 -o "$data" "$root/build/bin/slipway-worker" train \
  --manifest "$here/gpt_384.json" --train-iters "${1:-40}" >/dev/null 2>&1
perf report -i "$data" --stdio --no-children -F overhead,dso,symbol -t '|' 2>/dev/null | awk -F'|' '
  /^#/ || NF < 3 { next }
  {
    share = $1 + 0; library = $2; name = $3; kind = "other"
    if (name ~ /flash_attention|attention/) kind = "attention, softmax part"
    else if (library ~ /JIT/ || name ~ /gemm|dnnl/) kind = "GEMM (oneDNN, and MKL inside attention)"
    else if (name ~ /forward_rows|backward_rows/) kind = "norms"
    else if (library ~ /adam/ || name ~ /chunk_squares|Updates/) kind = "optimizer and gradient norm"
    else if (library ~ /kernel/) kind = "kernel: page faults, scheduling"
    else if (library ~ /gomp/) kind = "waiting for the other thread"
    else if (library ~ /slipway_gpt/) kind = "gpt: sums of bias gradients, heads, embedding"
    else if (library ~ /torch|libm|libc/ ) kind = "elementwise (gelu, residuals, copies)"
    total[kind] += share
  }
  END { for (kind in total) printf "%6.1f %%  %s\n", total[kind], kind }' | sort -rn
