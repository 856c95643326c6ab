#!/usr/bin/env bash
# dependencies.sh COMMAND=PACKAGE...: makes sure that each command is there. As root it installs the missing Debian packages, else it names them.
set -euo pipefail
missing=()
for pair in "$@"; do
  command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
done
((${#missing[@]} == 0)) && exit 0
if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
  echo "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  exit 0
fi
echo "missing, please install these packages: ${missing[*]}" >&2
exit 1
