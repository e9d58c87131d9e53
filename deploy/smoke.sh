#!/bin/sh
# Tries compose.yaml as it stands: builds the image, starts all three containers apart from any others, waits until each is healthy,
# asks for the status, and removes everything. The port 8080 of this machine must be free.
#   sh deploy/smoke.sh
set -eu
cd "$(dirname "$0")"
if ! docker info > /dev/null 2>&1; then
  echo "No Docker daemon answers here: compose.yaml was not tried." >&2
  exit 0
fi
docker compose build bms-sync
folder=$(mktemp -d)
cp compose.yaml make-secrets.sh "$folder"
cd "$folder"
compose() { docker compose --project-name bms-sync-smoke "$@"; }
trap 'compose logs --tail 50 >&2; compose down --volumes; rm -rf "$folder"' EXIT
echo a-token-of-no-service | sh make-secrets.sh http://service.invalid
compose up --detach --no-build --wait
compose exec -T bms-sync bms-sync status
echo "compose.yaml works: all three are healthy." >&2
