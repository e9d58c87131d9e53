#!/usr/bin/env bash
# Installs and runs the checkout as on the machines of others, where what they install or type has changed since test/machines.lock, or
# as `other-machines.sh nightly`. Writes that file when all went well: commit it.
set -euo pipefail
cd "$(dirname "$0")/.."
lock=test/machines.lock
state=$(cat package.json package-lock.json scripts/*.sh scripts/*.mjs scripts/node/* <(grep -E '^(npm|npx|node) ' README.md) | sha256sum)
if [ "${1:-}" != nightly ] && [ "$state" = "$(cat "$lock" 2> /dev/null)" ]; then
  echo "Nothing has changed for other machines since $lock."
  exit
fi
if [ "$(id -u)" = 0 ]; then scripts/newcomer.sh; fi
scripts/other-setups.sh # Node 22 with npm 10 and without Python, and ignore-scripts=true: up to the demo.
echo "$state" > "$lock"
