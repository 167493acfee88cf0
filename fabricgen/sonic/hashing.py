"""What an ECMP hash has to read so that RoCE spreads over the uplinks."""

# RoCEv2 keeps destination port 4791; the source port is what tells the queue pairs of two hosts apart (InfiniBand
# Architecture Specification, annex A17). Names: sonic-yang-models, sonic-hash.yang; sorted.
ROCE_HASH_FIELDS = ("DST_IP", "IP_PROTOCOL", "L4_DST_PORT", "L4_SRC_PORT", "SRC_IP")
