"""Bundle to findings: one rule, one function, one code."""
