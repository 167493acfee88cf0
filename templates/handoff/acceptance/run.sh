#!/usr/bin/env bash
# Runs the acceptance tests in their order. Usage: run.sh [--in-service] [STAGE...]
#
# Without stages all of them run: lldp loopback near back far bisection rails collectives incast watchdog failover.
# Results are written to $RESULTS (results). `fabricgen accept BUNDLE .` judges them with tests.jsonl.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=/dev/null
. ./lib.sh

in_service=no
if [ "${1:-}" = --in-service ]; then
    in_service=yes
    shift
fi
[ "$#" -gt 0 ] || set -- lldp loopback near back far bisection rails collectives incast watchdog failover
check_limits
for stage in "$@"; do
    [ -f "stages/$stage.sh" ] || stop "unknown stage $stage"
done
mkdir -p "$RESULTS"
if [ "$in_service" = no ]; then
    refuse_traffic "$@"
fi
collect before
# The switches are read at the end, also if a stage fails.
trap 'collect after' EXIT
for stage in "$@"; do
    echo "== $stage"
    # shellcheck source=/dev/null
    . "stages/$stage.sh"
done
