#!/bin/sh
# Writes secrets/ for compose.yaml: the settings of bms-sync, the password of PostgreSQL and that of Redis, made at random.
#   sh make-secrets.sh https://your-company.example < token
# The token of the service is read from standard input, so that no history of commands keeps it.
set -eu
base_url=${1:?the base URL of the service, the part before /api}
cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo "secrets/ is there already: PostgreSQL keeps its first password. Edit secrets/bms-sync.env instead." >&2
  exit 2
fi
if [ -t 0 ]; then
  echo "Token of the service (each user makes one in the service's own screens, in the browser, as that user), then Enter; it is not shown:" >&2
  trap 'stty echo' EXIT
  stty -echo
fi
read -r token || : # Fails at the end of a file without a line end, too.
if [ -z "$token" ]; then
  echo "No token on standard input." >&2
  exit 2
fi
case $base_url$token in
  *\'*) echo "A ' in the base URL or in the token cannot be written to secrets/bms-sync.env." >&2; exit 2 ;;
esac
random() { od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }
postgres=$(random 24)
redis=$(random 24)

mkdir -m 700 secrets # Keeps other users of the machine out; the files are read by the users of the containers.
printf %s "$postgres" > secrets/postgres-password
echo "requirepass $redis" > secrets/redis.conf
cat > secrets/bms-sync.env <<END
BMS_BASE_URL='$base_url'
BMS_TOKEN='$token'
ADMIN_TOKEN=$(random 32)
DATABASE_URL=postgres://bms_sync:$postgres@postgres:5432/mirror
QUEUE_URL=redis://:$redis@redis:6379
BMS__SCHEDULES={"everything":{"kinds":"all","cron":"*/15 * * * *"}}
BMS_WRITES=off
END
chmod 644 secrets/*
echo "secrets/bms-sync.env is written. Next: docker compose up -d --build" >&2
echo "The token of the API and of its pages is the line ADMIN_TOKEN in that file." >&2
