#!/usr/bin/env bash
# Download only where the model fits. Every exit of the check is handled, though set -e is on.
#
#   provision.sh SCENARIO DIRECTORY DOWNLOAD-COMMAND...
set -euo pipefail

scenario=$1 directory=$2
shift 2

report=$(mktemp)
trap 'rm -f "$report"' EXIT

status=0
k3preflight check "$scenario" --dir "$directory" --output "json=$report" || status=$?
case $status in
  0) ;; # fits; with --fail-on warn, without a warning
  1) echo "provision: $scenario does not fit in $directory; nothing was downloaded" >&2 && exit 1 ;;
  2) echo "provision: wrong arguments, see above" >&2 && exit 2 ;;
  3) echo "provision: it cannot be told whether $scenario fits; look at what is unknown" >&2 && exit 3 ;;
  130) exit 130 ;; # interrupted
  *) echo "provision: the check itself failed with $status" >&2 && exit "$status" ;;
esac

mkdir -p "$directory"
cp "$report" "$directory/preflight.json" # what was known when the download began
exec "$@"
