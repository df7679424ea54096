#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The figures as an array of Slurm: each task makes a shard in a folder that all see.
#
#   sbatch --array=1-16 examples/batch/slurm.sh DIR [options of memfab-report figures]
#
# and, when all have ended (sbatch --dependency=afterok:JOB, or by hand):
#
#   memfab-report merge DIR/shard-* -o DIR/figures
#
#SBATCH --job-name=memfab-figures
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --time=02:00:00
set -eu
report=${MEMFAB_REPORT:-memfab-report}
folder=$1
shift
shard=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT
exec "$report" figures --shard "$shard" --jobs "${SLURM_CPUS_PER_TASK:-1}" \
	-o "$folder/shard-$SLURM_ARRAY_TASK_ID" "$@"
