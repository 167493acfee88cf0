"""Rules on buffer pools, profiles and headroom."""
