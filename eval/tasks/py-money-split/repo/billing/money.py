"""Amounts of money."""

from decimal import Decimal


def parse_amount(text):
    """Parses an amount such as "1,234.56"."""
    return Decimal(round(float(text.replace(",", "")), 2))


def split(total, weights):
    """Shares a total out in proportion to weights."""
    everything = sum(weights)
    return [round(total * weight / everything, 2) for weight in weights]
