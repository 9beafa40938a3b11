import unittest


class ShopTest(unittest.TestCase):
    def test_turnover(self):
        from shop import Customer

        ada, bob = Customer("Ada"), Customer("Bob")
        ada.place(1000)
        ada.place(1000)
        bob.place(1000)
        self.assertEqual((ada.turnover(), bob.turnover()), (1950, 1000))
