#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Whether a switch does what it was configured to: sessions, cables, PFC, watchdog, lossless priority groups."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.fabricgen_sonic.restore import Device, DeviceError
from ansible.module_utils.fabricgen_sonic.state import problems_of

DOCUMENTATION = r"""
module: sonic_state
short_description: Compare the state of a SONiC switch with what was rendered and planned
author: [fabricgen (@fabricgen)]
description:
  - BGP sessions, LLDP neighbours by the aliases of their ports, PFC priorities, PFC watchdog, and the lossless priority
    groups in APPL_DB.
options:
  rendered: {description: The rendered tables., type: dict, default: {}}
  links: {description: Far end by port., type: dict, default: {}}
  absent: {description: Switches that are not there., type: list, elements: str, default: []}
attributes:
  check_mode: {support: full}
  diff_mode: {support: none}
"""
EXAMPLES = r"""
- name: Verify
  sonic_state: {links: {Ethernet0: {device: spine1, port: Ethernet8, alias: etp2}}}
"""
RETURN = r"""
problems: {description: What is not as it is to be., returned: always, type: list}
"""


def main():
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "rendered": {"type": "dict", "default": {}},
            "links": {"type": "dict", "default": {}},
            "absent": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    params = module.params
    device = Device("/")  # nothing is written
    try:
        problems = problems_of(device, params["rendered"], params["links"], params["absent"])
    except (DeviceError, ValueError) as error:
        module.fail_json(msg=str(error), problems=[str(error)])
    if problems:
        module.fail_json(msg=f"{len(problems)} problems: " + "; ".join(problems), problems=problems)
    module.exit_json(changed=False, problems=[])


if __name__ == "__main__":
    main()
