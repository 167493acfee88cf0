#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Whether a switch does what it was configured to: sessions, cables, PFC, watchdog, lossless priority groups."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.fabricgen_sonic.restore import Device, DeviceError
from ansible.module_utils.fabricgen_sonic.state import problems_of, sessions

DOCUMENTATION = r"""
module: sonic_state
short_description: Compare the state of a SONiC switch with what was rendered and planned
author: [fabricgen (@fabricgen)]
description:
  - With C(subset=sessions) only BGP is asked, and only sessions of C(must_be_up) are missed.
  - Else BGP sessions, LLDP neighbours by the aliases of their ports, PFC priorities, PFC watchdog and the lossless
    priority groups in APPL_DB.
options:
  subset: {description: What to ask for., type: str, default: all, choices: [all, sessions]}
  rendered: {description: The rendered tables., type: dict, default: {}}
  links: {description: Far end by port., type: dict, default: {}}
  absent: {description: Switches that are not there., type: list, elements: str, default: []}
  must_be_up: {description: Peers whose sessions must be up., type: list, elements: str, default: []}
attributes:
  check_mode: {support: full}
  diff_mode: {support: none}
"""
EXAMPLES = r"""
- name: Note the sessions
  sonic_state: {subset: sessions}
"""
RETURN = r"""
sessions: {description: The peers with a session., returned: always, type: list}
problems: {description: What is not as it is to be., returned: always, type: list}
"""


def main():
    """Run the module."""
    strings = {"type": "list", "elements": "str", "default": []}
    module = AnsibleModule(
        argument_spec={
            "subset": {"type": "str", "default": "all", "choices": ["all", "sessions"]},
            "rendered": {"type": "dict", "default": {}},
            "links": {"type": "dict", "default": {}},
            "absent": strings,
            "must_be_up": strings,
        },
        supports_check_mode=True,
    )
    params = module.params
    device = Device("/")  # nothing is written
    try:
        if params["subset"] == "all":
            problems, up = problems_of(device, params["rendered"], params["links"], params["absent"])
        else:
            up = sessions(device)
            problems = [f"BGP: the session with {peer} is down" for peer in params["must_be_up"] if peer not in up]
    except (DeviceError, ValueError) as error:
        module.fail_json(msg=str(error), problems=[str(error)], sessions=[])
    if problems:
        module.fail_json(msg=f"{len(problems)} problems: " + "; ".join(problems), problems=problems, sessions=up)
    module.exit_json(changed=False, problems=[], sessions=up)


if __name__ == "__main__":
    main()
