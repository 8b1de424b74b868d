"""Which addresses of the network a person's own model may have: the operator's list, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

PUBLIC, LOOPBACK, PRIVATE = WORDS = ("public", "loopback", "private")
# What an organisation numbers its own machines with. Not the link-local range: there clouds tell their secrets.
ORGANISATIONS = tuple(
    ip_network(range) for range in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, kw_only=True)
class AllowedHosts:
    """`names` are hosts whose addresses are not looked at, each with its port or None for any."""

    words: frozenset[str] = frozenset()
    names: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[Network, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> AllowedHosts:
        """Each entry is a word of `WORDS`, an address, a network such as 192.168.1.0/24, or a name, which may have a
        port. Raises `ValueError` that names the entry."""
        words, names, networks = set(), set(), []
        for entry in entries:
            if entry in WORDS:
                words.add(entry)
            elif network := _network(entry):
                networks.append(network)
            else:
                names.add(_named(entry))
        return cls(words=frozenset(words), names=frozenset(names), networks=tuple(networks))

    def has_name(self, host: str, port: int) -> bool:
        return not {(host.lower(), None), (host.lower(), port)}.isdisjoint(self.names)

    def allow(self, host: str, port: int, addresses: Sequence[str]) -> bool:
        """Whether a connection to `host` may go to any of its `addresses`: all of them must be allowed."""
        return self.has_name(host, port) or all(self._has(carried(ip_address(one))) for one in addresses)

    def _has(self, address: Address) -> bool:
        return any(address in network for network in self.networks) or _kind(address) in self.words


def carried(address: Address) -> Address:
    """The IPv4 address that an IPv6 address only wraps."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)


def _kind(address: Address) -> str:
    if address.is_loopback:
        return LOOPBACK
    if any(address in network for network in ORGANISATIONS):
        return PRIVATE
    return PUBLIC if address.is_global and not address.is_multicast else ""


def _network(entry: str) -> Network | None:
    try:
        return ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return None


def _named(entry: str) -> tuple[str, int | None]:
    parts = urlsplit(f"//{entry}")
    # Reading the port is what checks it.
    if not parts.hostname or parts.netloc != entry or not parts.hostname.replace("-", "a").replace(".", "a").isalnum():
        raise ValueError(f"{entry} is no host, address, network or one of {', '.join(WORDS)}")
    return parts.hostname, parts.port


def fault_of(address: str) -> str:
    """What makes the address of a model one that is not used, in a sentence; empty where it is in order."""
    try:
        parts = urlsplit(address)
        # Reading the port is what checks it.
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or True)
    except ValueError:
        known = False
    if not known:
        return "This is no address that begins with http:// or https://."
    if "@" in parts.netloc:
        return "An address has no name or password in it. Enter the key in its own field."
    if "?" in address or "#" in address:
        return "An address has no ? or #: what is asked is added at its end."
    return ""
