"""A cache for the results of a slow function, used by many threads."""

import threading


class Loader:
    def __init__(self, function):
        self._function = function
        self._results = {}
        self._lock = threading.Lock()

    def get(self, key):
        """Returns the result for a key, and computes it if needed."""
        if key in self._results:
            return self._results[key]
        try:
            result = self._function(key)
        except Exception as error:
            result = error
        with self._lock:
            self._results[key] = result
        if isinstance(result, Exception):
            raise result
        return result

    def invalidate(self, key):
        """Drops the result for a key."""
        with self._lock:
            del self._results[key]

    def __len__(self):
        return len(self._results)
