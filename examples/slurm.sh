#!/usr/bin/env bash
# Inside the allocation, where the job's own memory limit is what counts; the job ends in the
# check's exit. From the login node, for every node of a partition, into one stream:
#
#   srun --ntasks-per-node=1 --nodes=8 k3preflight probe ud-iq1-s --dir "$SCRATCH/k3" | k3preflight check ud-iq1-s --host -
#
#SBATCH --job-name=kimi-k3
#SBATCH --nodes=1
#SBATCH --mem=700G
set -euo pipefail
k3preflight check ud-iq1-s --dir "${SCRATCH:?}/k3"
exec "$@"
