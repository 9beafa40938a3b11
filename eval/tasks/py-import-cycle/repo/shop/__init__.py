"""A small shop."""

from shop.customers import Customer
from shop.discounts import discount_for
from shop.orders import Order

__all__ = ["Customer", "Order", "discount_for"]
