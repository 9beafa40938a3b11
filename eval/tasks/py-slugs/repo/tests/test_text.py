import unittest

from text.cut import truncate_bytes
from text.slug import slugify, unique_slugs


class TextTest(unittest.TestCase):
    def test_slugs(self):
        self.assertEqual(slugify("Crème Brûlée"), "creme-brulee")
        self.assertEqual(slugify("Don't panic!"), "dont-panic")

    def test_unique(self):
        self.assertEqual(unique_slugs(["a", "a", "a-2"]), ["a", "a-2", "a-2-2"])

    def test_cut(self):
        self.assertEqual(truncate_bytes("äöü", 5), "ä…")
