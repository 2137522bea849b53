"""Wrong tokens by the address they come from: who tries many is not listened to for a while."""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock

MOST = 10  # different wrong tokens of an address
WHILE = 60.0  # seconds
ADDRESSES = 10_000  # that are remembered
HOME = 64  # bits of an IPv6 address that one network has to itself


class Attempts:
    """Those of this process.

    The same wrong token again counts once: a program whose token has been withdrawn guesses nothing, and must not shut
    out others that share its address.
    """

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, dict[str, float]] = OrderedDict()  # address: hash of a token: when first
        self._lock = Lock()

    def failed(self, address: str, token: str, now: float) -> None:
        """Remember the hash of a wrong token."""
        with self._lock:
            tried = self._wrong.setdefault(network_of(address), {})
            self._wrong.move_to_end(network_of(address))
            if token in tried or len(tried) < MOST:
                tried.setdefault(token, now)
            while len(self._wrong) > ADDRESSES:
                self._wrong.popitem(last=False)

    def wait(self, address: str, now: float) -> float:
        """Seconds until an address is listened to again; 0 if it is now."""
        with self._lock:
            name = network_of(address)
            tried = {token: at for token, at in self._wrong.get(name, {}).items() if at > now - WHILE}
            if name in self._wrong and not tried:
                del self._wrong[name]
            elif tried:
                self._wrong[name] = tried
            return min(tried.values()) + WHILE - now if len(tried) >= MOST else 0.0


def network_of(address: str) -> str:
    """The address, or the network of whoever has more of them than can be counted.

    >>> network_of("10.1.2.3"), network_of("2001:db8:1:2:3:4:5:6"), network_of("somewhere")
    ('10.1.2.3', '2001:db8:1:2::/64', 'somewhere')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(ip_network((found, HOME), strict=False))
    return address
