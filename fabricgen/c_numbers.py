"""Numbers as OpenSM, NCCL and the kernel read them: with strtoul of C, base 0, so 0x1f is 31 and 010 is 8.

Python accepts more (1_000, 0b1, digits of other scripts) and refuses 010, so no function of Python fits.
Source: ISO C, strtoul; opensm 3.3.23, opts_strtoul in osm_subnet.c, partition_create in osm_prtn_config.c.
"""

import re

_NUMBER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))")
_MOST_DIGITS = 80  # of a number of 256 bits; Python needs long for the conversion of longer texts


def c_number(text: str) -> int | None:
    """The number that the whole text is; None if it is not a number. Not limited to 64 bits."""
    found = _NUMBER.fullmatch(text) if len(text) <= _MOST_DIGITS else None
    if found is None:
        return None
    sign, hexadecimal, octal, decimal = found.groups()
    number = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    return -number if sign == "-" else number
