#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""The state of a switch compared with its configuration: sessions, cables, PFC, watchdog, lossless priority groups."""

from __future__ import annotations

import sys
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: sonic_state
short_description: Compare the state of a SONiC switch with its configuration and cabling
author: [fabricgen (@fabricgen)]
description:
  - Compares BGP sessions, LLDP neighbors by the aliases of their ports, PFC priorities, the PFC watchdog, and the
    lossless priority groups in APPL_DB.
  - Compares the ports that LACP uses, the members of VLANs, and the MCLAG session of a pair of leaves.
  - Compares the statements of a VTEP that announce EVPN routes.
  - Compares PFC bits, watched queues, bound buffer profiles and pools in ASIC_DB and FLEX_COUNTER_DB.
requirements: [Python 3.11 on the switch]
options:
  rendered: {description: The rendered tables., type: dict, default: {}}
  links: {description: Far end by port., type: dict, default: {}}
  frr_conf: {description: The rendered frr.conf of a VTEP., type: str, default: ""}
  absent: {description: Switches that are planned or failed., type: list, elements: str, default: []}
attributes:
  check_mode: {support: full}
  diff_mode: {support: none}
"""
EXAMPLES = r"""
- name: Verify
  sonic_state: {links: {Ethernet0: {device: spine1, port: Ethernet8, alias: etp2}}}
"""
RETURN = r"""
problems: {description: What differs from the configuration and cabling., returned: always, type: list}
"""


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "rendered": {"type": "dict", "default": {}},
            "links": {"type": "dict", "default": {}},
            "frr_conf": {"type": "str", "default": ""},
            "absent": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    if sys.version_info < (3, 11):  # noqa: UP036 (of the switch)
        module.fail_json(msg="the switch needs Python 3.11: a SONiC image of 202311 or later")
    from ansible.module_utils.fabricgen_sonic.deploy.restore import Device, DeviceError
    from ansible.module_utils.fabricgen_sonic.deploy.state import problems_of

    params = module.params
    device = Device(Path("/"))  # nothing is written
    try:
        problems = problems_of(device, params["rendered"], params["links"], params["absent"], params["frr_conf"])
    except (DeviceError, ValueError) as error:
        module.fail_json(msg=str(error), problems=[str(error)])
    if problems:
        module.fail_json(msg=f"{len(problems)} problems: " + "; ".join(problems), problems=problems)
    module.exit_json(changed=False, problems=[])


if __name__ == "__main__":
    main()
