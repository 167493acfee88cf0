"""What the role's modules do on a switch. The modules that say what a change costs are those of `fabricgen diff`."""
