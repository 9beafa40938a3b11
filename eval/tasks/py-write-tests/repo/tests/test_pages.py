import unittest

import pages


class PagesTest(unittest.TestCase):
    def test_one_page(self):
        self.assertEqual(pages.parse("2", 3), [2])
