"""The result of an acceptance run in words: causes, what shows each, and the next command."""
