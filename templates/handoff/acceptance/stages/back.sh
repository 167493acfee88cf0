# shellcheck shell=bash
# The pairs at one leaf, in the other direction.
pairs back
