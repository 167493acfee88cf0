"""Rules on the files of subnet managers."""
