"""Fabric and platform to the lossless plan: headroom, pools, QoS maps, ECN, watchdog."""
