"""Customers."""

from shop.orders import Order


class Customer:
    orders = []

    def __init__(self, name):
        self.name = name

    def place(self, amount):
        """Places an order and returns it."""
        order = Order(self, amount)
        self.orders.append(order)
        return order

    def turnover(self):
        return sum(order.total() for order in self.orders)
