import threading
import time
import unittest

from loader import Loader


class LoaderTest(unittest.TestCase):
    def test_runs_once(self):
        calls = []

        def slow(key):
            calls.append(key)
            time.sleep(0.05)
            return key * 2

        loader = Loader(slow)
        threads = [threading.Thread(target=loader.get, args=(4,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((calls, loader.get(4)), ([4], 8))
