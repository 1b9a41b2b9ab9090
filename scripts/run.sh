#!/usr/bin/env bash
# Set-up, build and the demo: trains on The Devil's Dictionary. Arguments go to slipway train.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/scripts/build.sh"
exec "$root/build/bin/slipway" train --manifest "$root/launcher/manifests/devils_dictionary.json" "$@"
