import random
import unittest
from decimal import Decimal as D
from fractions import Fraction

from billing.invoice import Invoice, Line
from billing.money import parse_amount, split


class MoneyTest(unittest.TestCase):
    def test_parse(self):
        for text, expected in [("1,234.56", "1234.56"), ("-0.5", "-0.50"), ("7", "7.00"), ("0.1", "0.10"),
                               ("1,234,567.8", "1234567.80"), ("1234567.89", "1234567.89"), ("999", "999.00"),
                               ("90071992547409.93", "90071992547409.93"), ("-1,000", "-1000.00")]:
            parsed = parse_amount(text)
            self.assertIsInstance(parsed, D)
            self.assertEqual(str(parsed), expected)

    def test_wrong_amounts(self):
        for text in ["", "1.2.3", "abc", "1,23", "NaN", "1.234", ",123", "1,,234", "12,3456", "1,234,", "Infinity", "1e3", "--1", " ", "1234,567", "0.1,2", "."]:
            with self.assertRaises(ValueError, msg=text):
                parse_amount(text)

    def test_split_examples(self):
        self.assertEqual(split(D("10.00"), [1, 1, 1]), [D("3.34"), D("3.33"), D("3.33")])
        self.assertEqual(split(D("0.05"), [1, 1]), [D("0.03"), D("0.02")])
        self.assertEqual(split(D("-10.00"), [1, 1, 1]), [D("-3.34"), D("-3.33"), D("-3.33")])
        self.assertEqual(split(D("1.00"), [0, 3, 0]), [D("0.00"), D("1.00"), D("0.00")])
        self.assertEqual(split(D("100.00"), [1, 2, 4]), [D("14.29"), D("28.57"), D("57.14")])

    def test_split_properties(self):
        rng = random.Random(4)
        for _ in range(3000):
            weights = [rng.randrange(0, 50) for _ in range(rng.randrange(1, 9))]
            if sum(weights) == 0:
                continue
            total = D(rng.randrange(-100000, 100000)).scaleb(-2)
            parts = split(total, weights)
            self.assertEqual(sum(parts), total)
            for part, weight in zip(parts, weights):
                self.assertEqual(part, part.quantize(D("0.01")))
                share = Fraction(total) * weight / sum(weights)
                self.assertLess(abs(Fraction(part) - share), Fraction(1, 100))

    def test_split_huge(self):
        total = D("123456789012345678901234567890.01")
        self.assertEqual(sum(map(Fraction, split(total, [1, 1, 1]))), Fraction(total))

    def test_wrong_weights(self):
        for weights in [[], [0, 0], [1, -1, 3]]:
            with self.assertRaises(ValueError):
                split(D("1.00"), weights)

    def test_totals(self):
        def total(*lines):
            return Invoice([Line(q, D(p), D(t)) for q, p, t in lines]).total()

        self.assertEqual(total((1, "0.05", 10), (1, "0.05", 10)), D("0.11"))
        self.assertEqual(total((1, "0.05", 10)), D("0.06"))
        self.assertEqual(total((1, "0.15", 10)), D("0.17"))
        self.assertEqual(total((-1, "0.05", 10)), D("-0.06"))
        self.assertEqual(total((1, "0.05", 10), (1, "0.05", 30)), D("0.13"))
        self.assertEqual(total((3, "0.33", "7.5"), (2, "10.00", 0)), D("21.06"))
        self.assertEqual(total((1, "0.05", "10.0"), (1, "0.05", "10")), D("0.11"))
        self.assertEqual(Invoice([]).total(), D("0"))


if __name__ == "__main__":
    unittest.main()
