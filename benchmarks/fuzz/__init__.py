"""Fuzzing of the command line: mutated inventories, bundles and readings never cause an internal error or a hang."""
