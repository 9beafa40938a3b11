"""Invoices."""

from dataclasses import dataclass, field
from decimal import Decimal


@dataclass
class Line:
    """One position: a quantity, the price of one piece, and the tax rate in percent."""

    quantity: int
    price: Decimal
    tax_percent: Decimal

    def net(self):
        return self.quantity * self.price

    def tax(self):
        return round(self.net() * self.tax_percent / 100, 2)


@dataclass
class Invoice:
    lines: list = field(default_factory=list)

    def net(self):
        return sum(line.net() for line in self.lines)

    def total(self):
        """The sum with taxes."""
        return self.net() + sum(line.tax() for line in self.lines)
