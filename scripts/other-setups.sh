#!/usr/bin/env bash
# Plays the README's first command on machines that differ from this one, each from a copy in a fresh home, in a path with a space and an
# accent: Node 22 with npm 10, where there is no Python, compiler or make; and this machine's Node, whose user has set ignore-scripts=true.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp --directory --tmpdir=/var/tmp)
trap 'rm -rf "$folder"' EXIT
git -c safe.directory='*' archive --output "$folder/bms-sync.tar" HEAD
cache=$(npm config get cache)

demo() { # name, folder of programs; the fresh home may have an .npmrc
  checkout="$folder/$1/été à/bms-sync"
  mkdir -p "$checkout"
  tar --extract --file "$folder/bms-sync.tar" --directory "$checkout"
  # The way to the registry and what it has sent are the machine's; all else is the user's own.
  ( cd "$checkout"
    export HOME="$folder/$1" PATH="$2" npm_config_cache="$cache"
    SECONDS=0
    npm ci > "$HOME/npm-ci.txt" 2>&1 || { cat "$HOME/npm-ci.txt"; exit 1; }
    ci=$SECONDS
    npm run demo -- --once > "$HOME/demo.txt" 2>&1 || { cat "$HOME/demo.txt"; exit 1; }
    grep --quiet '^bookings ' "$HOME/demo.txt"
    echo "$1: npm ci $ci s, $(wc -l < "$HOME/npm-ci.txt") lines; npm run demo $((SECONDS - ci)) s, $(wc -l < "$HOME/demo.txt") lines"
  )
}

# Only what npm and the program themselves call.
mkdir "$folder/programs"
for program in bash cat env grep mkdir sh wc; do ln -s "$(type -P "$program")" "$folder/programs/"; done
platform=node-linux-$(node -p process.arch)
npm install --no-save --prefix "$folder/node22" "$platform@22" npm@10 > /dev/null
ln -s "$folder/node22/node_modules/$platform/bin/node" "$folder/programs/"
ln -s "$folder/node22/node_modules/npm/bin/npm-cli.js" "$folder/programs/npm"
demo node-22-npm-10 "$folder/programs"

mkdir "$folder/ignore-scripts"
printf 'ignore-scripts=true\nengine-strict=true\n' > "$folder/ignore-scripts/.npmrc"
demo ignore-scripts "$PATH"
