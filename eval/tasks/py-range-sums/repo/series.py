class Series:
    """Integers by position, with sums of ranges."""

    def __init__(self, values=()):
        self._values = list(values)

    def __len__(self):
        return len(self._values)

    def __getitem__(self, index):
        return self._values[index]

    def __setitem__(self, index, value):
        self._values[index] = value

    def add(self, index, delta):
        self._values[index] += delta

    def total(self, start=None, stop=None):
        return sum(self._values[start:stop])
