import random
import unicodedata
import unittest

from text.cut import truncate_bytes
from text.slug import slugify, unique_slugs


class TextTest(unittest.TestCase):
    def test_slugs(self):
        for text, expected in [
            ("Crème Brûlée", "creme-brulee"), ("Straße", "strasse"), ("STRAẞE", "strasse"),
            ("Ærø & Łódź — Đà Nẵng", "aero-lodz-da-nang"), ("Привет, мир", "привет-мир"),
            ("東京 2020", "東京-2020"), ("  --a__b.. ", "a-b"), ("Don't / don’t", "dont-dont"),
            ("ﬁne Ⅳ ½", "fine-iv-1-2"), ("", "n-a"), ("!!!", "n-a"), ("İstanbul", "istanbul"),
            ("한국어", unicodedata.normalize("NFC", "한국어")), ("x²", "x2"), ("a\u0301b", "ab"), ("’", "n-a"),
        ]:
            self.assertEqual(slugify(text), expected, text)

    def test_max_length(self):
        for text, limit, expected in [
            ("one two three", 13, "one-two-three"), ("one two three", 12, "one-two"), ("one two three", 8, "one-two"),
            ("one two three", 7, "one-two"), ("one two three", 6, "one"), ("one two three", 3, "one"),
            ("one two three", 2, "on"), ("abcdef", 4, "abcd"), ("a b", 1, "a"), ("a bcd", 2, "a"), ("abc", 0, "n-a"),
        ]:
            self.assertEqual(slugify(text, max_length=limit), expected, (text, limit))

    def test_unique(self):
        self.assertEqual(unique_slugs(["a", "a", "a-2", "a", "A!"]), ["a", "a-2", "a-2-2", "a-3", "a-4"])
        self.assertEqual(unique_slugs(["a-2", "a", "a"]), ["a-2", "a", "a-3"])
        self.assertEqual(unique_slugs(["", "!"]), ["n-a", "n-a-2"])
        rng = random.Random(1)
        for _ in range(300):
            texts = [rng.choice(["a", "a-2", "a-3", "a-2-2", "b"]) for _ in range(12)]
            slugs = unique_slugs(texts)
            self.assertEqual(len(set(slugs)), 12, texts)
            self.assertEqual(slugs[0], texts[0])

    def test_many_equal_ones_are_fast(self):
        slugs = unique_slugs(["same"] * 20000)
        self.assertEqual((slugs[1], slugs[-1]), ("same-2", "same-20000"))

    def test_cut(self):
        for text, limit, expected in [
            ("abc", 3, "abc"), ("abcd", 3, "…"), ("äöü", 6, "äöü"), ("äöü", 5, "ä…"), ("äöü", 4, "…"),
            ("äöü", 2, "ä"), ("äöü", 1, ""), ("😀😀", 7, "😀…"), ("😀😀", 6, "…"), ("e\u0301e\u0301e\u0301", 8, "e\u0301…"),
            ("e\u0301e\u0301", 5, "…"), ("e\u0301xy", 2, ""), ("❤\ufe0f❤\ufe0f", 10, "❤\ufe0f…"), ("❤\ufe0f❤\ufe0f", 8, "…"),
            ("", 0, ""), ("abc", 0, ""),
        ]:
            cut = truncate_bytes(text, limit)
            self.assertEqual(cut, expected, (text, limit))
            self.assertLessEqual(len(cut.encode()), limit)
        self.assertEqual(truncate_bytes("abcdef", 5, ellipsis="..."), "ab...")
        self.assertEqual(truncate_bytes("abcdef", 5, ellipsis=""), "abcde")
