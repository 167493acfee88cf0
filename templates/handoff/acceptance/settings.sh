# shellcheck shell=bash disable=SC2034
# What a person may change; each variable can be set in the environment.
RESULTS=${RESULTS:-results}
# How commands reach hosts: ssh, or srun inside an allocation (acceptance.sbatch sets it).
LAUNCHER=${LAUNCHER:-ssh}
SSH=${SSH:-ssh -o BatchMode=yes -o ConnectTimeout=10}
SWITCH_USER=${SWITCH_USER:-admin}
# Folder of all_reduce_perf and the other programs of nccl-tests or rccl-tests.
NCCL_TESTS=${NCCL_TESTS:-/usr/local/bin}
MPIRUN=${MPIRUN:-mpirun}
# Seconds of a test between two NICs, pairs at the same time, seconds for a server to start.
DURATION_S=${DURATION_S:-10}
PARALLEL=${PARALLEL:-32}
START_S=${START_S:-2}
# Bytes of a message between two NICs, and the least and largest buffer of a collective.
MESSAGE_BYTES=${MESSAGE_BYTES:-1048576}
NCCL_LEAST_BYTES=${NCCL_LEAST_BYTES:-1073741824}
NCCL_MOST_BYTES=${NCCL_MOST_BYTES:-8589934592}
NCCL_ITERATIONS=${NCCL_ITERATIONS:-20}
# A host that sends more than this in Mb/s is in service.
IDLE_MBPS=${IDLE_MBPS:-1000}
