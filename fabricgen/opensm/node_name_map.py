"""node-name-map: the names of switches by GUID, as OpenSM and the infiniband-diags read them: `0x<GUID> "name"`."""

import re
from collections.abc import Mapping

_LINE = re.compile(r'\s*0x([0-9a-fA-F]+)\s+"([^"]*)"')


def read_node_names(text: str) -> Mapping[int, str]:
    """Node GUID -> name; other lines are ignored."""
    return {int(found[1], 16): found[2] for line in text.splitlines() if (found := _LINE.match(line))}
