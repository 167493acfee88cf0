"""Plans to named bytes, through templates; where each value came from."""
