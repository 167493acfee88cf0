# shellcheck shell=bash
# Each NIC alone: PCIe, firmware and driver.
pairs loopback
