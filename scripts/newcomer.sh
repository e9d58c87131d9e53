#!/usr/bin/env bash
# Runs the tests that touch the machine as an ordinary user, from a copy in a home that nobody else may enter; as root only.
set -euo pipefail
PATH=$PATH:/usr/sbin
user=bms-newcomer
id "$user" > /dev/null 2>&1 || useradd --create-home "$user"
home=$(getent passwd "$user" | cut -d: -f6)
chmod 700 "$home"
rm -rf "$home/bms-sync"
mkdir "$home/bms-sync"
git -c safe.directory='*' archive HEAD | tar --extract --directory "$home/bms-sync"
chown -R "$user:" "$home/bms-sync"
su "$user" --shell /bin/bash --command "cd ~/bms-sync && npm ci && BMS_TEST_TIER=tests npx vitest run test/end-to-end test/db test/checks"
