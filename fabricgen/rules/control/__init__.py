"""Rules on the control plane: which packets reach the processor of a switch."""
