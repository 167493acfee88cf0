"""Tests of the handoffs."""

from typing import Any

import yaml


def _text(_: Any, node: Any) -> Any:
    return node.value


# The tag of Ansible for texts that are not templates.
yaml.SafeLoader.add_constructor("!unsafe", _text)
