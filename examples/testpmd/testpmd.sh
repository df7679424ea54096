#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dpdk-testpmd with two ports in fabric.json, at memory nodes that a compute node reads and writes meanwhile:
#   examples/testpmd/testpmd.sh [librte_net_memfab.so [OPTION of testpmd...]]
# Without options it forwards until Enter is pressed, and says how much; with -i it has its prompt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
driver=${1:-$here/../../build/drivers/librte_net_memfab.so}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- --forward-mode=mac --tx-first --stats-period=1

driver=$(realpath "$driver")
[ -f "$driver" ] || { echo "testpmd.sh: there is no driver $driver: is it built?" >&2; exit 2; }
folder=$driver
while [ "$folder" != / ]; do
	folder=$(dirname "$folder")
	[ -z "$(find "$folder" -prune -perm -0002)" ] || {
		echo "testpmd.sh: EAL loads no driver from below $folder, which anybody may write to:" \
			"meson install -C build, and give this script the driver that is installed" >&2
		exit 2
	}
done

exec dpdk-testpmd --no-huge -m 512 --no-pci --no-shconf -l 0,1 -d "$driver" \
	--vdev "net_memfab0,fabric=$here/fabric.json,node=mn0,workload=1" \
	--vdev "net_memfab1,fabric=$here/fabric.json,node=mn1,workload=1" \
	-- --total-num-mbufs=8192 --eth-peer=0,02:00:00:00:00:02 --eth-peer=1,02:00:00:00:00:01 "$@"
