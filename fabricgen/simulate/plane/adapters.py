"""The NIC ports of a plane."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Adapter:
    """A NIC port: its host, its name, its rail (None without rails), the group and model of its host, its model and its
    address, "" where they are not known. `tenant` is that of the NIC, None on a plane without tenants."""

    host: str
    nic: str
    rail: int | None
    group: str = ""
    model: str = ""
    nic_model: str = ""
    address: str = ""
    tenant: str | None = None  # "": no tenant has it

    @property
    def name(self) -> str:
        """HOST|NIC."""
        return f"{self.host}|{self.nic}"
