"""A running switch from its present configuration to the rendered one, in steps that can be undone at any moment.

This package and the modules that it imports are part of the Ansible role: `fabricgen handoff ansible` copies them into
module_utils/fabricgen_sonic/ without a change. They use relative imports and the standard library of Python 3.11, which
is the Python of SONiC images since 202311.
"""
