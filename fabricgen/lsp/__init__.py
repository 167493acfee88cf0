"""The language server: what an editor shows while a person writes an inventory."""
