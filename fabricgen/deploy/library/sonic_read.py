#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""The output of several commands of a switch, in one call."""

from __future__ import annotations

import sys
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: sonic_read
short_description: Run commands that only read
author: [fabricgen (@fabricgen)]
description: [Returns the output of each command. Fails when a command fails.]
requirements: [Python 3.11 on the switch]
options:
  readings: {description: Commands by the name of the file for their output., type: dict, required: true}
attributes:
  check_mode: {support: full}
  diff_mode: {support: none}
"""
EXAMPLES = r"""
- name: Read
  sonic_read: {readings: {running.json: [sonic-cfggen, -d, --print-data]}}
"""
RETURN = r"""
texts: {description: The output of the commands by file., returned: success, type: dict}
"""


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec={"readings": {"type": "dict", "required": True}}, supports_check_mode=True)
    if sys.version_info < (3, 11):  # noqa: UP036 (of the switch)
        module.fail_json(msg="the switch needs Python 3.11: a SONiC image of 202311 or later")
    from ansible.module_utils.fabricgen_sonic.deploy.restore import Device, DeviceError

    device = Device(Path("/"))  # nothing is written
    try:
        texts = {file: device.run(*command) for file, command in module.params["readings"].items()}
    except DeviceError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, texts=texts)


if __name__ == "__main__":
    main()
