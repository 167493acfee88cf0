"""The smallest fabric that has every tier, of one layout: what shows that a layout renders."""

from fabricgen.platforms.model import Layout


def tiny_inventory(platform: str, layout: Layout, own_file: str = "") -> str:
    """Two leaves, spines and cores, each joined to each of the next tier, on the shortest cables of the table."""
    ports = [port.name for port in layout.ports_at(layout.speed_mbps)]
    lengths_m = [row.cable_m for row in layout.headroom if row.speed_mbps == layout.speed_mbps]
    cable = f"{{length: {min(lengths_m, default=5)}m, medium: smf}}"
    tier = f"{{platform: {platform}, layout: {layout.hwsku}}}"
    links = [f"[leaf{n}:{ports[-m]}, spine{m}:{ports[n - 1]}]" for n in (1, 2) for m in (1, 2)]
    links += [f"[spine{n}:{ports[-m]}, core{m}:{ports[n - 1]}]" for n in (1, 2) for m in (1, 2)]
    own = f"platforms: [{own_file}]" if own_file else ""
    return f"""
fabricgen: 1
fabric: tiny
{own}
planes:
  compute:
    design: explicit
    leaf: {tier}
    spine: {tier}
    core: {tier}
    speed: {layout.speed_mbps // 1000}G
    leaves: [{{name: leaf1}}, {{name: leaf2}}]
    spines: [{{name: spine1}}, {{name: spine2}}]
    cores: [{{name: core1}}, {{name: core2}}]
    cables: {{leaf-spine: {cable}, spine-core: {cable}}}
    links: [{", ".join(links)}]
    addressing:
      {{loopbacks: 10.0.0.0/24, links: 10.0.1.0/24, hosts: 10.0.2.0/24, asn: {{first: 65000, last: 65100}}}}
"""
