"""The NIC ports of a plane."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Adapter:
    """A NIC port: its host, its name, its rail (None without rails), and the group and model of its host."""

    host: str
    nic: str
    rail: int | None
    group: str = ""
    model: str = ""

    @property
    def name(self) -> str:
        """HOST|NIC."""
        return f"{self.host}|{self.nic}"
