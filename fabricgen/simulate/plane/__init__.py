"""What all simulators read of a plane: hosts, lossless classes, buffers, hashing, ports and flows."""
