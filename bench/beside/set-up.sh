#!/usr/bin/env bash
# Makes a Python environment for each tool that bms-sync is measured beside: bench/beside/set-up.sh FOLDER
set -euo pipefail
folder=$1
install() { # name, packages …
  python3 -m venv "$folder/$1"
  "$folder/$1/bin/pip" install --quiet "${@:2}"
}
install dlt 'dlt[postgres]==1.31.0'
install singer singer-sdk==0.54.9 meltanolabs-target-postgres
install airbyte airbyte==0.71.3
install drt drt-core==1.2.1
