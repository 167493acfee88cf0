# shellcheck shell=bash
# All pairs across spines at the same time: the load of every uplink.
pairs bisection
