"""One module per verb: parse, call, format, exit code."""
