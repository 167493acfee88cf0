"""The cables to correct: the work order of what LLDP shows, as the picture, the panel and the copies of the page need
it."""

from dataclasses import asdict
from typing import Any

from fabricgen.bundle.read import Bundle
from fabricgen.handoff.work_order import Order, orders_words, work_order_csv, work_order_text, work_orders


def cables_object(bundle: Bundle) -> dict[str, Any] | None:
    """`orders` with their steps, `summary` in words, and the lines of the work order as `text` and `csv`. None if no
    cables were observed."""
    if bundle.cabling is None:
        return None
    orders = work_orders(bundle, bundle.cabling.miscablings)
    return {
        "source": bundle.cabling.source,
        "summary": orders_words(orders),
        "count": sum(len(order.steps) for order in orders),
        "orders": [_order(order) for order in orders],
        "text": work_order_text(orders).splitlines(),
        "csv": work_order_csv(orders).splitlines(),
    }


def _order(order: Order) -> dict[str, Any]:
    return {
        "name": order.name,
        "kind": order.kind,
        "action": order.action,
        "steps": [asdict(one) for one in order.steps],
    }
