# shellcheck shell=bash
# Several NICs write to one: their sum is what it receives, and nothing is lost.
pairs incast
