import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from loader import Loader


class LoaderTest(unittest.TestCase):
    def setUp(self):
        self.pool = ThreadPoolExecutor(16)
        self.addCleanup(self.pool.shutdown, wait=False)

    def waiting(self, loader, key, count):
        """Starts `count` calls and gives them time to wait."""
        futures = [self.pool.submit(loader.get, key) for _ in range(count)]
        time.sleep(0.1)
        return futures

    def test_one_call_for_all(self):
        gate, calls = threading.Event(), []

        def load(key):
            calls.append(key)
            gate.wait(5)
            return object()

        loader = Loader(load)
        futures = self.waiting(loader, "a", 8)
        gate.set()
        results = {id(f.result(5)) for f in futures}
        self.assertEqual((len(results), calls, len(loader)), (1, ["a"], 1))
        self.assertIn(id(loader.get("a")), results)

    def test_none_is_a_result(self):
        calls = []
        loader = Loader(lambda key: calls.append(key))
        self.assertEqual([loader.get(1), loader.get(1), calls], [None, None, [1]])

    def test_an_exception_as_a_result_is_a_result(self):
        error = ValueError("value")
        loader = Loader(lambda key: error)
        self.assertIs(loader.get(1), error)
        self.assertIs(loader.get(1), error)

    def test_keys_do_not_wait_for_each_other(self):
        gate = threading.Event()
        loader = Loader(lambda key: gate.wait(5) if key == "slow" else key)
        slow = self.waiting(loader, "slow", 1)
        self.assertEqual(self.pool.submit(loader.get, "fast").result(2), "fast")
        gate.set()
        slow[0].result(5)

    def test_failures_are_shared_and_not_kept(self):
        gate, calls = threading.Event(), []

        def load(key):
            calls.append(key)
            gate.wait(5)
            if len(calls) == 1:
                raise LookupError("first")
            return "second"

        loader = Loader(load)
        futures = self.waiting(loader, "a", 6)
        gate.set()
        errors = {id(f.exception(5)) for f in futures}
        self.assertEqual((len(errors), len(calls), len(loader)), (1, 1, 0))
        self.assertEqual((loader.get("a"), len(calls)), ("second", 2))

    def test_other_exceptions_reach_all(self):
        gate = threading.Event()

        def load(key):
            gate.wait(5)
            raise SystemExit(3)

        loader = Loader(load)
        futures = self.waiting(loader, "a", 3)
        gate.set()
        for future in futures:
            self.assertIsInstance(future.exception(5), SystemExit)

    def test_invalidate_while_a_call_runs(self):
        gates, calls = [threading.Event(), threading.Event()], []

        def load(key):
            number = len(calls)
            calls.append(number)
            gates[number].wait(5)
            return number

        loader = Loader(load)
        early = self.waiting(loader, "a", 2)
        loader.invalidate("a")
        late = self.waiting(loader, "a", 2)
        self.assertEqual(calls, [0, 1])
        gates[1].set()
        self.assertEqual([f.result(5) for f in late], [1, 1])
        gates[0].set()
        self.assertEqual([f.result(5) for f in early], [0, 0])
        self.assertEqual((loader.get("a"), len(loader), len(calls)), (1, 1, 2))

    def test_invalidate(self):
        calls = []
        loader = Loader(lambda key: calls.append(key) or len(calls))
        loader.invalidate("unknown")
        loader.get("a")
        loader.invalidate("a")
        self.assertEqual((len(loader), loader.get("a")), (0, 2))

    def test_nested(self):
        loader = Loader(lambda key: 1 if key == 0 else loader.get(key - 1) + 1)
        self.assertEqual(self.pool.submit(loader.get, 20).result(5), 21)

    def test_recursion(self):
        loader = Loader(lambda key: loader.get({"a": "b", "b": "a"}[key]))
        error = self.pool.submit(loader.get, "a").exception(5)
        self.assertIsInstance(error, RuntimeError)
        self.assertIn("recursive", str(error))
        self.assertEqual(len(loader), 0)

    def test_stress(self):
        running, lock, twice = set(), threading.Lock(), []

        def load(key):
            with lock:
                if key in running:
                    twice.append(key)
                running.add(key)
            time.sleep(0.0005)
            with lock:
                running.discard(key)
            if key % 3 == 0:
                raise ValueError(key)
            return key

        loader = Loader(load)

        def work(seed):
            for n in range(150):
                key = (seed * 7 + n) % 12
                try:
                    assert loader.get(key) == key
                except ValueError:
                    assert key % 3 == 0

        for future in [self.pool.submit(work, n) for n in range(16)]:
            future.result(20)
        self.assertEqual((twice, len(loader)), ([], 8))
