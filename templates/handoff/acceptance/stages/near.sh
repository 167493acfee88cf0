# shellcheck shell=bash
# Pairs at one leaf.
pairs near
