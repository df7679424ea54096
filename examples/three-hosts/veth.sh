#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs veth.json: three network namespaces with a veth pair for each link, a process in each. As root.
#   examples/three-hosts/veth.sh [memfab-emu [OPTION...]]     options go to the compute node's process
# $servers are process ids, with blanks between.
# shellcheck disable=SC2086
set -eu
here=$(cd "$(dirname "$0")" && pwd)
emu=${1:-$here/../../build/apps/emu/memfab-emu}
[ $# -eq 0 ] || shift

spaces="mf$$-cn mf$$-sw mf$$-mn"
servers=
clean() {
	[ -z "$servers" ] || kill $servers 2>/dev/null || true
	for space in $spaces; do ip netns delete "$space" 2>/dev/null || true; done
}
trap clean EXIT INT TERM

for space in $spaces; do ip netns add "$space"; done
for node in cn mn; do
	ip link add "${node}0" netns "mf$$-$node" type veth peer name "sw-$node" netns "mf$$-sw"
	ip -n "mf$$-$node" link set "${node}0" up
	ip -n "mf$$-sw" link set "sw-$node" up
done
ip netns exec "mf$$-sw" "$emu" --run sw0 "$here/veth.json" >/dev/null &
servers="$!"
ip netns exec "mf$$-mn" "$emu" --run mn0 "$here/veth.json" >/dev/null &
servers="$servers $!"
ip netns exec "mf$$-cn" "$emu" --run cn0 "$@" "$here/veth.json"
wait $servers
servers=
