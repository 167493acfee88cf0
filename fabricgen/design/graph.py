"""The kind of graph that the switches of a plane form, as far as routing engines can rely on it."""

import enum

from fabricgen.design.model import Host, PlaneDesign, Switch
from fabricgen.design.subnets import SubnetDesign, split_subnets
from fabricgen.vocabulary import LinkKind


class Graph(enum.StrEnum):
    """Kinds of graphs that routing engines handle differently."""

    SINGLE_SWITCHES = "single switches"
    REGULAR_TREE = "regular tree"
    TREE_OF_ONE_LEAF = "tree of one leaf"
    TREE = "tree"
    LISTED_LINKS = "listed links"
    DRAGONFLY = "dragonfly"
    DRAGONFLY_PLUS = "dragonfly-plus"
    TORUS_2D = "2D torus"
    TORUS_3D = "3D torus"
    MESH = "mesh"
    RING = "ring"
    LINE = "line"

    @property
    def is_tree(self) -> bool:
        """Whether it has a highest tier, with paths that go up and then down."""
        return self in (Graph.REGULAR_TREE, Graph.TREE_OF_ONE_LEAF, Graph.TREE)


def clos_graph(design: PlaneDesign) -> Graph:
    """The graph of a Clos: a regular tree, unless all endpoints of a subnet are on one leaf."""
    several = all(map(_has_leaves, split_subnets(design)))
    return Graph.REGULAR_TREE if several else Graph.TREE_OF_ONE_LEAF


def listed_graph(design: PlaneDesign) -> Graph:
    """The graph of links that follow no rule but their tiers: a tree where every link joins two tiers."""
    level = any(link.kind in (LinkKind.PEER, LinkKind.GLOBAL) for link in design.links)
    return Graph.LISTED_LINKS if level else Graph.TREE


def joins_switches(design: PlaneDesign) -> bool:
    """Whether any link joins two switches."""
    return any(isinstance(link.a, Switch) for link in design.links)


def _has_leaves(subnet: SubnetDesign) -> bool:
    """Whether compute nodes, or all hosts of a subnet without compute nodes, are on several switches."""
    computing = [link for link in subnet.host_links if isinstance(link.a, Host) and link.a.model.gpus]
    return len({link.b.key for link in computing or subnet.host_links}) > 1
