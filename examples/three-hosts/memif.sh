#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs memif.json: three processes of one machine, without root.
#   examples/three-hosts/memif.sh [memfab-emu [OPTION...]]    options go to the compute node's process
# $servers are process ids, with blanks between.
# shellcheck disable=SC2086
set -eu
here=$(cd "$(dirname "$0")" && pwd)
emu=${1:-$here/../../build/apps/emu/memfab-emu}
[ $# -eq 0 ] || shift

servers=
trap '[ -z "$servers" ] || kill $servers 2>/dev/null' EXIT INT TERM
"$emu" --run sw0 "$here/memif.json" >/dev/null &
servers="$!"
"$emu" --run mn0 "$here/memif.json" >/dev/null &
servers="$servers $!"
"$emu" --run cn0 "$@" "$here/memif.json"
wait $servers
servers=
