#!/usr/bin/env bash
# each-module.sh SET STEP...: runs the steps of module.sh in each module of a set of modules.sh, all of them even after a failure.
set -uo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)
set=$1
shift
failed=()
for module in $("$scripts/modules.sh" "$set"); do
  for step in "$@"; do
    (cd "$scripts/../$module" && "$scripts/timed.sh" "$step $module" "$scripts/module.sh" "$step") || failed+=("$step $module")
  done
done
((${#failed[@]} == 0)) && exit 0
printf 'failed: %s\n' "${failed[@]}" >&2
exit 1
