import unittest

from series import Series


class SeriesTest(unittest.TestCase):
    def test_small(self):
        series = Series([3, 1, 4])
        series.append(1)
        series.add(-1, 4)
        self.assertEqual((series.total(), series.total(1, -1), series[3]), (13, 5, 5))
        self.assertEqual((series.find(4), series.find(5), series.find(14)), (2, 3, None))

    def test_many(self):
        series = Series(range(200_000))
        for index in range(20_000):
            series.add(index * 7 % 200_000, 1)
            self.assertGreater(series.total(index, 200_000 - index), 0)


if __name__ == "__main__":
    unittest.main()
