"""Rules on the files of OpenSM."""
