#!/usr/bin/env bash
# module.sh STEP...: runs the steps in the module of the current folder, as a user of that module alone would: without the workspace.
#   vet build test race tidy format lint cross fuzz
# FUZZTIME  how long each fuzz target runs: a count (20000x, the default) or a duration (30s)
# TOOLS     the folder with golangci-lint and gofumpt (default .cache/bin at the root of the repository)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
tools=${TOOLS:-$root/.cache/bin}
export GOWORK=off
[[ -e go.mod ]] || {
  echo "module.sh: no go.mod in $PWD" >&2
  exit 2
}

vet() { go vet ./...; }
build() { go build ./...; }
test() { go test -p 2 ./...; }

# The detector looks for races, which need few schedules: the many ones are for `test`, whose code runs ten times as fast.
race() {
  KAAS_SEEDS=${KAAS_SEEDS:-200} KAAS_RUNS=${KAAS_RUNS:-200} go test -p 2 -race -short -skip '^TestEveryRuleIsNeeded$' ./...
}
tidy() { go mod tidy -diff; }
lint() { "$tools/golangci-lint" run --config "$root/.golangci.yml" --timeout 10m ./...; }

# Nested modules are looked at in their own turn.
own_files() {
  find . -mindepth 1 -type d -exec test -e '{}/go.mod' ';' -prune -o -name '*.go' -print
}

format() {
  local unformatted
  unformatted=$(own_files | xargs -r "$tools/gofumpt" -l)
  [[ -z $unformatted ]] && return
  echo "not formatted, run make format:" >&2
  echo "$unformatted" >&2
  return 1
}

# Tests for another system cannot run here, but they must compile there.
cross() {
  local system
  for system in darwin windows; do
    CGO_ENABLED=0 GOOS=$system go vet ./...
    CGO_ENABLED=0 GOOS=$system go test -c -o /dev/null ./...
  done
}

# A count, not a duration: when its time is up, the toolchain sometimes reports its own deadline as a failure of the target.
fuzz() {
  local package target
  while read -r package; do
    while read -r target; do
      go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-20000x}" -fuzzminimizetime 100x -parallel 2 "$package"
    done < <(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true)
  done < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...)
}

for step in "$@"; do
  case $step in
    vet | build | test | race | tidy | format | lint | cross | fuzz) "$step" ;;
    *)
      sed -n '2,5s/^# //p' "$0" >&2
      exit 2
      ;;
  esac
done
