#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""What several commands of a switch say, in one go."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.fabricgen_sonic.restore import Device, DeviceError

DOCUMENTATION = r"""
module: sonic_read
short_description: Run commands that only read
author: [fabricgen (@fabricgen)]
description: [Returns what each command says. Fails when one of them does.]
options:
  readings: {description: Commands by the files that are to hold what they say., type: dict, required: true}
attributes:
  check_mode: {support: full}
  diff_mode: {support: none}
"""
EXAMPLES = r"""
- name: Read
  sonic_read: {readings: {running.json: [sonic-cfggen, -d, --print-data]}}
"""
RETURN = r"""
texts: {description: What was said by file., returned: success, type: dict}
"""


def main():
    """Run the module."""
    module = AnsibleModule(argument_spec={"readings": {"type": "dict", "required": True}}, supports_check_mode=True)
    device = Device("/")  # nothing is written
    try:
        texts = {file: device.run(*command) for file, command in module.params["readings"].items()}
    except DeviceError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, texts=texts)


if __name__ == "__main__":
    main()
