# shellcheck shell=bash
# Pairs across spines; no two share a cable of a leaf.
pairs far
