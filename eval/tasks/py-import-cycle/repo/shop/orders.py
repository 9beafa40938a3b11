"""Orders."""

from shop.discounts import discount_for


class Order:
    def __init__(self, customer, amount):
        self.customer = customer
        self.amount = amount

    def total(self):
        """The amount in cents after the discount, rounded down."""
        return self.amount * (100 - discount_for(self)) // 100
