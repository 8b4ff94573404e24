#!/usr/bin/env bash
# Every measurement, one after the other, into a folder; then the targets. Status 1 when a gate is missed.
#   run-all.sh [FOLDER] [quick|full]        (default: bench/out quick)
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:-$here/out}
how=${2:-quick}
mkdir -p "$out"

if [ "$how" = full ]; then
  rounds=7 sizes=1000,10000,50000 calls=732,2000,10000 lines=500,1000,2000,4000 trials=8 pasts=1000,250000,1000000
else
  rounds=5 sizes=10000,50000 calls=732,10000 lines=500,2000 trials=4 pasts=1000,250000
fi

measure() {
  local name=$1
  shift
  echo "== $name" >&2
  node "$here/$name.mjs" "$@" --json "$out/$name.json" | tee "$out/$name.txt"
}

measure cold-start --rounds $rounds
measure operations --sizes $sizes --rounds $rounds
measure parse --lines $lines --rounds $rounds
measure checkpoint --sizes $calls --rounds $rounds
measure crash --trials $trials
measure journal-api --rounds $rounds
measure lookback --rounds 3
measure starts --rounds 3 --sizes $pasts
measure programs --rounds $rounds
if [ -n "${MLLD_STORE:-}" ]; then
  measure team-append --rounds $rounds
fi
node "$here/check-targets.mjs" "$out" | tee "$out/targets.txt"
