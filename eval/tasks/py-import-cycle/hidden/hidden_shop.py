import ast
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).parent
PACKAGE = ROOT / "shop"


def imports_of(path):
    """The modules of the package that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "shop" if node.level else node.module or ""
            if node.level and node.module:
                base = f"shop.{node.module}"
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    names = {p.stem for p in PACKAGE.glob("*.py")}
    return {name.split(".")[1] for name in found if name.startswith("shop.") and name.split(".")[1] in names}


class ShopTest(unittest.TestCase):
    def test_each_module_first(self):
        for name in ["shop", *(f"shop.{p.stem}" for p in PACKAGE.glob("*.py") if p.stem != "__init__")]:
            done = subprocess.run([sys.executable, "-c", f"import {name}"], cwd=ROOT, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, name + done.stderr)
        done = subprocess.run([sys.executable, "-m", "shop.report"], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "Ada: 1000\n"))

    def test_no_cycles(self):
        graph = {p.stem: imports_of(p) for p in PACKAGE.glob("*.py") if p.stem != "__init__"}
        while graph:
            free = [name for name, needed in graph.items() if not (needed & graph.keys()) - {name}]
            self.assertTrue(free, f"a cycle among {sorted(graph)}")
            for name in free:
                del graph[name]

    def test_no_tricks(self):
        for path in PACKAGE.glob("*.py"):
            text = path.read_text()
            self.assertNotIn("TYPE_CHECKING", text)
            self.assertNotIn("importlib", text)
            self.assertNotIn("__import__", text)
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                    for inner in ast.walk(node):
                        self.assertNotIsInstance(inner, (ast.Import, ast.ImportFrom), path)

    def test_api(self):
        import shop
        from shop.customers import Customer
        from shop.discounts import discount_for
        from shop.orders import Order

        self.assertEqual(set(shop.__all__), {"Customer", "Order", "discount_for"})
        self.assertIs(shop.Customer, Customer)
        self.assertIs(shop.Order, Order)
        self.assertIs(shop.discount_for, discount_for)

    def test_behaviour(self):
        from shop import Customer, Order, discount_for

        ada, bob = Customer("Ada"), Customer("Bob")
        placed = [ada.place(1000 + n) for n in range(12)]
        self.assertTrue(all(isinstance(order, Order) for order in placed))
        self.assertEqual(ada.orders, placed)
        self.assertEqual(bob.orders, [])
        self.assertEqual([discount_for(order) for order in placed], [0, 5, 5, 5, 5, 10, 10, 10, 10, 10, 15, 15])
        self.assertEqual(placed[11].total(), 1011 * 85 // 100)
        self.assertEqual(ada.turnover(), sum(order.total() for order in placed))
        free = Order(ada, 999)
        self.assertEqual((discount_for(free), free.total()), (15, 849))
        self.assertEqual(discount_for(Order(bob, 1)), 0)
