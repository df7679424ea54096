#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The figures with GNU parallel, in N shards, on this machine or on those of --sshlogin with a common folder:
#
#   PARALLEL="--sshlogin a,b,c" examples/batch/parallel.sh N DIR [options of memfab-report figures]
set -eu
report=${MEMFAB_REPORT:-memfab-report}
count=$1
folder=$2
shift 2
seq "$count" | parallel --quote --halt now,fail=1 \
	"$report" figures --jobs 1 --shard "{}/$count" -o "$folder/shard-{}" "$@"
exec "$report" merge "$folder"/shard-* -o "$folder/figures"
