"""The members of Ansible's AnsibleModule that the modules of fabricgen use; ansible-core has no type hints."""

from collections.abc import Mapping
from typing import Any, NoReturn

class AnsibleModule:
    params: dict[str, Any]
    check_mode: bool
    no_log_values: set[str]
    def __init__(self, argument_spec: Mapping[str, Mapping[str, object]], supports_check_mode: bool = ...) -> None: ...
    def exit_json(self, **result: object) -> NoReturn: ...
    def fail_json(self, msg: str, **result: object) -> NoReturn: ...
