#!/usr/bin/env bash
# Set-up, build and the demo: a GPT learns The Devil's Dictionary and then goes on writing it. Arguments go to slipway
# train; with an --output-dir among them nothing is written by itself.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
slipway=$root/build/bin/slipway
manifest=$root/launcher/manifests/devils_dictionary.json

"$root/scripts/build.sh"
if [[ " $* " == *" --output-dir"* ]]; then
  exec "$slipway" train --manifest "$manifest" "$@"
fi
run=$root/runs/demo-$(date +%Y%m%d-%H%M%S)
"$slipway" train --manifest "$manifest" --output-dir "$run" "$@"
echo
"$slipway" generate --checkpoint "$run" --prompt "MAN, n." --temperature 0.7 --top-k 40 --seed 2
