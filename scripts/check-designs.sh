#!/usr/bin/env bash
# check-designs.sh: fails when the DESIGN.md of a module names a file or an identifier that does not exist.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
(cd tools/design && go test ./... && go build -o "$built/design" .)
status=0
mapfile -t modules < <(scripts/modules.sh libraries)
for module in "${modules[@]}"; do
  [[ -e $module/DESIGN.md ]] || continue
  "$built/design" "$module" "${modules[@]}" || status=1
done
exit "$status"
