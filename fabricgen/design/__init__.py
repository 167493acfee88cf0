"""Inventory to Fabric: devices, ports, links, cables. One module per topology family."""
