"""Packet by packet: what buffers, pause frames, marks and rates do in a small network or a slice of a large one."""
