#!/usr/bin/env bash
# go-version.sh: makes sure that the Go that is installed can build the modules, and says what to do where it cannot.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
wanted=$(sed -n 's/^go \([0-9.]*\)$/\1/p' "$root/go.work")
command -v go >/dev/null || {
  echo "Go is not installed: install Go $wanted or newer, of the downloads of the Go project, and put its bin folder into PATH" >&2
  exit 1
}
found=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
found=${found#go}
oldest=$(printf '%s\n%s\n' "$wanted" "${found%%[!0-9.]*}" | sort -V | head -n 1)
[[ $oldest == "$wanted" ]] && exit 0
# From 1.21 on, Go fetches the version that a module asks for, unless it is told not to or cannot.
if (cd "$root/kaas-codec" && GOWORK=off go version >/dev/null 2>&1); then
  exit 0
fi
cat >&2 <<MESSAGE
Go $found is installed, the modules need Go $wanted or newer, and it could not be fetched.
Install it from the downloads of the Go project (as root: rm -rf /usr/local/go && tar -C /usr/local -xzf go$wanted.linux-amd64.tar.gz) and put
/usr/local/go/bin in front of PATH; or, with Go 1.21 or newer and a network, set GOTOOLCHAIN=auto.
MESSAGE
exit 1
