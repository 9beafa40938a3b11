import unittest
from decimal import Decimal

from billing.invoice import Invoice, Line
from billing.money import parse_amount, split


class BillingTest(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(parse_amount("1,234.56"), Decimal("1234.56"))
        self.assertEqual(str(parse_amount("0.1")), "0.10")

    def test_split(self):
        self.assertEqual(split(Decimal("10.00"), [1, 1, 1]), [Decimal("3.34"), Decimal("3.33"), Decimal("3.33")])

    def test_total(self):
        lines = [Line(1, Decimal("0.05"), Decimal(10)), Line(1, Decimal("0.05"), Decimal(10))]
        self.assertEqual(Invoice(lines).total(), Decimal("0.11"))
