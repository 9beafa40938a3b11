"""Prints a report."""

from shop.customers import Customer


def report(customers):
    return [f"{customer.name}: {customer.turnover()}" for customer in customers]


if __name__ == "__main__":
    ada = Customer("Ada")
    ada.place(1000)
    print("\n".join(report([ada])))
