#!/usr/bin/env bash
# modules.sh [all|libraries|portable|tests]: prints the folders of the Go modules that versions.yaml lists, dependencies first.
#   all        every module but those of tools (default)
#   libraries  the tagged ones
#   portable   those that need nothing but Go and promise to compile for macOS and Windows: the tagged ones and the examples
#   tests      the modules of tests
set -euo pipefail
cd "$(dirname "$0")/.."
libraries() {
  sed -n '/^modules:/,/^[^ ]/s/^  \([^:]*\): v.*/\1/p' versions.yaml
}
untagged() {
  sed -n '/^untagged:/,/^[^ ]/s/^  - //p' versions.yaml
}
examples() {
  untagged | grep /examples/
}
tests() {
  untagged | grep '/tests$'
}
case ${1:-all} in
  all)
    libraries
    examples
    tests
    ;;
  libraries) libraries ;;
  portable)
    libraries
    examples
    ;;
  tests) tests ;;
  *)
    sed -n '2,6s/^# //p' "$0" >&2
    exit 2
    ;;
esac
