"""The names that inventories and options accept, each with a short description."""

from collections.abc import Callable, Mapping

from fabricgen.units import format_speed

Rows = Mapping[str, str]  # name -> description


def platforms() -> Rows:
    """Switch models with their layouts."""
    from fabricgen.platforms.catalog import switch_names, switch_platform

    found = {name: platform for name in switch_names() if (platform := switch_platform(name))}
    return {
        name: f"{platform.technology}, layouts {', '.join(layout.name for layout in platform.layouts)}"
        for name, platform in found.items()
    }


def hosts() -> Rows:
    """Host models with their GPUs and the planes of their NICs."""
    from fabricgen.platforms.catalog import host_model, host_names

    found = {name: model for name in host_names() if (model := host_model(name))}
    return {
        name: f"{model.gpus} GPUs, NICs for {', '.join(dict.fromkeys(nic.plane for nic in model.nics))}"
        for name, model in found.items()
    }


def nics() -> Rows:
    """NIC models with their speeds."""
    from fabricgen.platforms.catalog import nic_model, nic_names

    found = {name: model for name in nic_names() if (model := nic_model(name))}
    return {name: ", ".join(map(format_speed, model.speeds_mbps)) for name, model in found.items()}


def designs() -> Rows:
    """Values of `design:` with their layout."""
    from fabricgen.design.registry import designs as registered

    return {name: design.summary for name, design in registered().items()}


def patterns() -> Rows:
    """Traffic patterns."""
    from fabricgen.vocabulary import PATTERNS

    return dict.fromkeys(PATTERNS, "")


def profiles() -> Rows:
    """Shipped lossless profiles with their classes."""
    from fabricgen.inventory.profiles import shipped_profiles

    return {
        name: "; ".join(
            f"priority {priority}: DSCP {', '.join(node.texts('dscp'))}"
            for priority, node in profile.part("classes").mapping.items()
        )
        for name, profile in shipped_profiles().items()
    }


def formats() -> Rows:
    """Report formats."""
    from fabricgen.report.formats import formats as registered

    return {name: one.summary for name, one in registered().items()}


def codes() -> Rows:
    """Codes of findings with the severity of rules and the title."""
    from fabricgen.report.pages import pages

    return {code: f"{one.severity or '':<8} {one.title}" for code, one in sorted(pages().items())}


def releases() -> Rows:
    """SONiC releases that change what is rendered."""
    from fabricgen.sonic.releases import OLDEST, SINCE

    newer = {release: [path for path, since in SINCE.items() if since == release] for release in SINCE.values()}
    return {str(OLDEST): "the oldest supported release"} | {
        str(release): f"adds {', '.join(paths)}" for release, paths in sorted(newer.items())
    }


KINDS: Mapping[str, Callable[[], Rows]] = {
    each.__name__: each for each in (platforms, hosts, nics, designs, patterns, profiles, formats, codes, releases)
}
