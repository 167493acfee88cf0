"""The real OpenSM on a simulated subnet: a test that it reads its files as intended."""

from fabricgen.simulate.opensm.proof import KeyDifference, Proof, prove
from fabricgen.simulate.opensm.tools import PACKAGES, Tools, find_tools

__all__ = ["PACKAGES", "KeyDifference", "Proof", "Tools", "find_tools", "prove"]
