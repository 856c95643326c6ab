#!/usr/bin/env bash
# timed.sh NAME COMMAND...: runs the command, says how long it took, and returns its exit status.
# KAAS_TIMINGS  a file that collects one line for each step: seconds, exit status, name
set -uo pipefail
name=$1
shift
printf '\n==> %s\n' "$name"
began=$SECONDS
"$@"
status=$?
took=$((SECONDS - began))
[[ -n ${KAAS_TIMINGS:-} ]] && printf '%d\t%d\t%s\n' "$took" "$status" "$name" >>"$KAAS_TIMINGS"
if ((status == 0)); then
  printf '<== %s: %d s\n' "$name" "$took"
else
  printf '<== %s: FAILED with status %d after %d s\n' "$name" "$status" "$took" >&2
fi
exit "$status"
