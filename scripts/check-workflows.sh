#!/usr/bin/env bash
# check-workflows.sh: fails when a module is not in versions.yaml or has no workflow, or when its workflow does not run at a change of a module that it depends on.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
while read -r file; do
  grep -qE "^  (- )?$(dirname "$file")(:|\$)" versions.yaml && continue
  echo "$(dirname "$file"): not in versions.yaml" >&2
  status=1
done < <(git ls-files '*go.mod')
for module in $(scripts/modules.sh all); do
  workflow=.github/workflows/${module//\//-}.yml
  if [[ ! -e $workflow ]]; then
    echo "$module: no $workflow" >&2
    status=1
    continue
  fi
  for dependency in "$module" $(sed -n 's#^.*github.com/kaas-rs/kaas/\([^ ]*\) v.*#\1#p' "$module/go.mod"); do
    # A folder covers the modules nested in it.
    covered=no
    folder=$dependency
    while [[ $folder != . ]]; do
      grep -qF -- "- $folder/**" "$workflow" && covered=yes
      folder=$(dirname "$folder")
    done
    [[ $covered == yes ]] && continue
    echo "$workflow: does not run at changes of $dependency" >&2
    status=1
  done
done
exit "$status"
