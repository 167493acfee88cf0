"""The fields that an ECMP hash must include to spread RoCE over the uplinks."""

# All RoCEv2 packets have destination port 4791. Queue pairs of two hosts differ only in the source port (InfiniBand
# Architecture Specification, annex A17). Names: sonic-yang-models, sonic-hash.yang; sorted.
ROCE_HASH_FIELDS = ("DST_IP", "IP_PROTOCOL", "L4_DST_PORT", "L4_SRC_PORT", "SRC_IP")
