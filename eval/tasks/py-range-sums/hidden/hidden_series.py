import random
import unittest

from series import Series


class HiddenTest(unittest.TestCase):
    def test_like_a_list(self):
        rng = random.Random(3)
        for size in list(range(20)) + [31, 32, 33, 64, 100]:
            model = [rng.randrange(-50, 50) for _ in range(size)]
            series = Series(iter(model))
            for _ in range(300):
                step = rng.randrange(6)
                if step == 0:
                    value = rng.randrange(-(10**30), 10**30)
                    series.append(value)
                    model.append(value)
                elif step == 1:
                    if model:
                        self.assertEqual(series.pop(), model.pop())
                    else:
                        self.assertRaises(IndexError, series.pop)
                elif step == 2 and model:
                    index, value = rng.randrange(-len(model), len(model)), rng.randrange(-50, 50)
                    series[index] = value
                    model[index] = value
                elif step == 3 and model:
                    index, delta = rng.randrange(-len(model), len(model)), rng.randrange(-50, 50)
                    series.add(index, delta)
                    model[index] += delta
                bounds = [rng.choice([None, rng.randrange(-120, 120)]) for _ in range(2)]
                self.assertEqual(series.total(*bounds), sum(model[bounds[0] : bounds[1]]), (bounds, model))
                self.assertEqual(len(series), len(model))
            self.assertEqual(list(series), model)
            self.assertEqual([series[i] for i in range(-len(model), len(model))], model + model)
            self.assertEqual(series, Series(model))
            self.assertNotEqual(series, Series(model + [0]))
            self.assertNotEqual(series, model)

    def test_find(self):
        rng = random.Random(4)
        for size in range(0, 40):
            model = [rng.choice([0, 0, 1, 5, 10**25]) for _ in range(size)]
            series = Series(model)
            for target in {-1, 0, 1, 2, 5, 6, 10**25, 10**25 + 1, sum(model), sum(model) + 1}:
                expected, seen = (0 if target <= 0 else None), 0
                for count, value in enumerate(model, 1):
                    seen += value
                    if expected is None and seen >= target:
                        expected = count
                self.assertEqual(series.find(target), expected, (model, target))

    def test_find_with_negative_values(self):
        series = Series([1, -1, 2])
        self.assertRaises(ValueError, series.find, 1)
        series[1] = 0
        self.assertEqual(series.find(2), 3)
        series.add(0, -2)
        self.assertRaises(ValueError, series.find, 1)
        series.add(0, 2)
        series.append(-5)
        self.assertRaises(ValueError, series.find, 0)
        series.pop()
        self.assertEqual(series.find(1), 1)

    def test_errors_change_nothing(self):
        series = Series([1, 2])
        for index in (2, -3, 100):
            for work in (lambda: series[index], lambda: series.__setitem__(index, 1), lambda: series.add(index, 1)):
                with self.assertRaisesRegex(IndexError, "^index out of range$"):
                    work()
        for wrong in (1.0, True, "1", None):
            for work in (series.append, lambda value: series.__setitem__(0, value), lambda value: series.add(0, value), lambda value: Series([1, value])):
                self.assertRaises(TypeError, work, wrong)
        self.assertEqual(list(series), [1, 2])
        self.assertEqual(series.total(), 3)
        self.assertRaises(IndexError, Series().pop)
        self.assertEqual((Series().total(), len(Series()), Series().find(1), Series().find(0)), (0, 0, None, 0))

    def test_fast(self):
        size = 100_000
        series = Series(range(size))
        total = size * (size - 1) // 2
        for index in range(8_000):
            series.add(index * 17 % size, 1)
            series[size - 1 - index] = series[size - 1 - index]
            self.assertEqual(series.total(), total + index + 1)
            series.total(index, -index - 1)
            series.find(total // 2)
        for _ in range(100_000):
            series.append(5)
        for _ in range(100_000):
            series.pop()
        for _ in range(50_000):
            series.append(1)
            series.pop()
        self.assertEqual(series.total(), total + 8_000)


if __name__ == "__main__":
    unittest.main()
