#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Move traffic away from a switch for maintenance, and back."""

from __future__ import annotations

import sys
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: sonic_isolation
short_description: Move traffic away from a switch, and back
author: [fabricgen (@fabricgen)]
description:
  - With bgpcfgd it runs TSA or TSB. With SONiC's management framework it sets an outbound route map that permits only
    the loopbacks, or the rendered route maps again, and waits until FRR has them. Then it saves the configuration.
requirements: [Python 3.11 on the switch]
options:
  isolated: {description: Whether the switch is isolated., type: bool, required: true}
  rendered: {description: The rendered tables., type: dict, required: true}
  work_folder: {description: Folder for files on the switch., type: path, default: /etc/sonic/fabricgen}
  frr_file: {description: The file that FRR of a VTEP reads., type: path, default: /etc/sonic/frr/frr.conf}
attributes:
  check_mode: {support: full}
  diff_mode: {support: none}
"""
EXAMPLES = r"""
- name: Isolate
  sonic_isolation: {isolated: true, rendered: "{{ lookup('file', 'config_db.json') | from_json }}"}
"""
RETURN = "# Whether the state changed."


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "isolated": {"type": "bool", "required": True},
            "rendered": {"type": "dict", "required": True},
            "work_folder": {"type": "path", "default": "/etc/sonic/fabricgen"},
            "frr_file": {"type": "path", "default": "/etc/sonic/frr/frr.conf"},
        },
        supports_check_mode=True,
    )
    if sys.version_info < (3, 11):  # noqa: UP036 (of the switch)
        module.fail_json(msg="the switch needs Python 3.11: a SONiC image of 202311 or later")
    from ansible.module_utils.fabricgen_sonic.deploy.isolation import move
    from ansible.module_utils.fabricgen_sonic.deploy.restore import Device, DeviceError

    device, rendered = Device(Path(module.params["work_folder"])), module.params["rendered"]
    frr_file = Path(module.params["frr_file"])
    try:
        changed = move(device, rendered, frr_file, away=module.params["isolated"], check=module.check_mode)
    except DeviceError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=changed)


if __name__ == "__main__":
    main()
