#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "integers.hpp"
#include "quantile.hpp"
#include "stats.hpp"

#define CHECK(x) \
  do { if (!(x)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #x); std::exit(1); } } while (0)

int main() {
  RunningStats stats;
  for (double value : {4.0, 7.0, 13.0, 16.0}) stats.add(value);
  CHECK(stats.count() == 4 && stats.mean() == 10 && stats.variance() == 30);
  CHECK(floor_mean({1, 2, 4}) == 2 && quantile({3, 1, 2, 4}, 0.5) == 2.5);
  RunningStats far;
  for (double value : {4.0, 7.0, 13.0, 16.0}) far.add(1e9 + value);
  CHECK(std::abs(far.variance() - 30) < 1e-6);
}
