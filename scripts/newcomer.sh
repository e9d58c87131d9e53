#!/usr/bin/env bash
# Plays a newcomer from a copy in a fresh home of mode 700, first as root, then as an ordinary user: to a first query. The latter also
# runs the tests that touch the machine, the walk of the README on both databases, and the exit codes. Where the machine allows it, all
# in a mount namespace whose /root and /home are empty. As root only.
set -euo pipefail
PATH=$PATH:/usr/sbin
user=bms-newcomer

first_query() { # user, home
  install --directory --mode 700 "$2" "$2/bms-sync"
  tar --extract --file "$folder/bms-sync.tar" --directory "$2/bms-sync"
  chown -R "$1:" "$2"
  as "$1" "$2" '
    npm ci
    npm run demo -- --once > /dev/null
    export PATH=$PWD/node_modules/.bin:$PATH # With the Node that npm ci brings.
    node dist/main.js sandbox --port 18099 --size 100 > /dev/null &
    export BMS_BASE_URL=http://127.0.0.1:18099 BMS_TOKEN=sandbox-token
    timeout 30 bash -c "until node dist/main.js doctor > /dev/null; do sleep 0.2; done"
    node dist/main.js pull > /dev/null
    kill %1
    node --no-warnings -e "
      const { DatabaseSync } = require(\"node:sqlite\");
      const sql = \"select count(*) as clients from bi_clients\";
      console.log(new DatabaseSync(\"data/mirror.db\").prepare(sql).get())"
    echo "'"$1"': the first query after $SECONDS s, npm ci and the demo included"
    test "$SECONDS" -le 60 || echo "That is more than a minute."'
}

as() { # user, home, commands
  # The way to the registry (proxies, certificates) is the machine's; all else is the user's own.
  runuser --user "$1" -- env HOME="$2" USER="$1" bash -euo pipefail -c "cd ~/bms-sync; $3"
}

if [ $# = 0 ]; then
  id "$user" > /dev/null 2>&1 || useradd --create-home "$user"
  folder=$(mktemp --directory --tmpdir=/var/tmp)
  trap 'rm -rf "$folder"' EXIT
  chmod 755 "$folder"
  mkdir "$folder/root" "$folder/home"
  git -c safe.directory='*' archive --output "$folder/bms-sync.tar" HEAD
  if unshare --mount true 2> /dev/null; then
    unshare --mount "$0" "$folder" apart
  else
    echo "No mount namespace here: the other homes of this machine can be seen."
    "$0" "$folder"
  fi
  exit
fi

folder=$1
homes=$folder
if [ "${2:-}" = apart ]; then
  homes=
  mount --bind "$folder/root" /root
  mount --bind "$folder/home" /home
fi
first_query root "$homes/root"
first_query "$user" "$homes/home/$user"
as "$user" "$homes/home/$user" 'BMS_TEST_TIER=all npx vitest run test/end-to-end test/db test/checks test/features/mcp/sql/sqlite.test.ts test/cli/usage.test.ts'
