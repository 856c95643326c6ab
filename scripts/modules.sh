#!/usr/bin/env bash
# modules.sh [all|libraries|portable|tests]: prints the folders of the Go modules, dependencies first.
#   all        every module that is tagged, then the modules of tests (default)
#   libraries  the tagged ones, as versions.yaml lists them
#   portable   those that promise to compile for macOS and Windows
#   tests      the modules of tests, which are never tagged
set -euo pipefail
cd "$(dirname "$0")/.."
libraries() {
  sed -n '/^modules:/,/^[^ ]/s/^  \([^:]*\): v.*/\1/p' versions.yaml
}
tests() {
  for module in kaas-*/tests; do
    [[ -e $module/go.mod ]] && echo "$module"
  done
}
case ${1:-all} in
  all)
    libraries
    tests
    ;;
  libraries | portable) libraries ;;
  tests) tests ;;
  *)
    sed -n '2,6s/^# //p' "$0" >&2
    exit 2
    ;;
esac
