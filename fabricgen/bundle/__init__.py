"""The build folder: the only place where makers and judges meet."""
