"""The bandwidth of a plane: completion times of patterns over draws of hashes, and what failures cost.

All messages of a pattern have equal sizes and start together. Under fair (max-min) sharing of the ports its last
message then arrives when the port with the most bytes for its speed is done: no message gets less than the fair share
of that port, which has none to spare. So a completion time is a sum of bytes, without a simulation of time. Pauses
(PFC) and the reactions of senders can only lengthen it; `simulate congestion` and `simulate packets` show by how much.
"""
