#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "integers.hpp"
#include "quantile.hpp"
#include "stats.hpp"

#define CHECK(x) \
  do { if (!(x)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #x); std::exit(1); } } while (0)

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr double kHuge = 1.7e308;

template <typename F>
static bool refuses(F work) {
  try {
    work();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

static RunningStats of(const std::vector<double>& values) {
  RunningStats stats;
  for (double value : values) stats.add(value);
  return stats;
}

static bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * std::abs(b); }

static bool same(const RunningStats& stats, const std::vector<double>& values, double tolerance) {
  __float128 sum = 0, squares = 0;
  for (double value : values) sum += value;
  __float128 mean = sum / static_cast<__float128>(values.size());
  for (double value : values) squares += (value - mean) * (value - mean);
  double variance = static_cast<double>(squares / static_cast<__float128>(values.size() - 1));
  return stats.count() == values.size() && near(stats.mean(), static_cast<double>(mean), 1e-12) &&
         near(stats.sum(), static_cast<double>(sum), 1e-13) && near(stats.variance(), variance, tolerance);
}

static void empty_and_single() {
  RunningStats none;
  CHECK(none.count() == 0 && none.skipped() == 0 && none.sum() == 0);
  CHECK(std::isnan(none.mean()) && std::isnan(none.variance()) && std::isnan(none.min()) && std::isnan(none.max()));
  RunningStats one = of({-3});
  CHECK(one.mean() == -3 && std::isnan(one.variance()) && one.min() == -3 && one.max() == -3 && one.sum() == -3);
  RunningStats two = of({-3, -5});
  CHECK(two.max() == -3 && two.min() == -5 && two.variance() == 2);
}

static void special_values() {
  RunningStats stats = of({1, 3});
  stats.add(kNothing);
  stats.add(kNothing);
  CHECK(refuses([&] { stats.add(kInfinity); }) && refuses([&] { stats.add(-kInfinity); }));
  CHECK(stats.count() == 2 && stats.skipped() == 2 && stats.mean() == 2 && stats.variance() == 2);
  CHECK(stats.min() == 1 && stats.max() == 3 && stats.sum() == 4);
  RunningStats other = of({kNothing});
  CHECK(other.count() == 0 && std::isnan(other.mean()) && std::isnan(other.max()));
  other.merge(stats);
  CHECK(other.count() == 2 && other.skipped() == 3 && other.min() == 1);
}

static void precision() {
  CHECK(near(of({1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}).variance(), 30, 1e-9));
  CHECK(of({1, 1e100, 1, -1e100}).sum() == 2);
  CHECK(of({-1e100, 1, 1e100, 1}).sum() == 2);
  CHECK(of({5, 5, 5}).variance() == 0);
  std::vector<double> tenths(1'000'000, 0.1);
  CHECK(of(tenths).sum() == 100000 && near(of(tenths).mean(), 0.1, 1e-14) && of(tenths).variance() >= 0);
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(1e9, 5);
  std::vector<double> values;
  for (int i = 0; i < 100'000; i++) values.push_back(normal(random));
  CHECK(same(of(values), values, 1e-6));
}

static void merging() {
  RunningStats none;
  RunningStats stats = of({1, 3});
  stats.merge(none);
  CHECK(stats.count() == 2 && stats.min() == 1 && stats.max() == 3 && stats.mean() == 2);
  none.merge(stats);
  CHECK(none.count() == 2 && none.min() == 1 && none.max() == 3 && none.variance() == 2);
  RunningStats below = of({-5, -9});
  RunningStats both = below;
  both.merge(RunningStats());
  CHECK(both.max() == -5 && both.min() == -9);
  stats.merge(stats);
  CHECK(stats.count() == 4 && stats.mean() == 2 && near(stats.variance(), 4.0 / 3, 1e-14) && stats.sum() == 8);
  RunningStats left = of({1e100, 1});
  left.merge(of({1, -1e100}));
  CHECK(left.sum() == 2);
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(1e9, 1e9 + 10);
  std::vector<double> all;
  RunningStats total;
  for (int size : {1, 0, 20'000, 3, 500, 0, 9'000}) {
    std::vector<double> part;
    for (int i = 0; i < size; i++) part.push_back(uniform(random));
    total.merge(of(part));
    all.insert(all.end(), part.begin(), part.end());
  }
  CHECK(same(total, all, 1e-6));
}

static void huge_values() {
  CHECK(of({kHuge, kHuge, kHuge}).mean() == kHuge && of({kHuge, kHuge, kHuge}).variance() == 0);
  RunningStats opposite = of({kHuge, -kHuge});
  CHECK(std::abs(opposite.mean()) < 1e293 && opposite.variance() == kInfinity && opposite.sum() == 0);
  CHECK(of({kHuge, kHuge}).sum() == kInfinity && of({-kHuge, -kHuge}).sum() == -kInfinity);
  CHECK(of({kHuge, kHuge, 1, 2}).sum() == kInfinity);
  RunningStats merged = of({kHuge, kHuge});
  merged.merge(of({-kHuge, -kHuge}));
  CHECK(std::abs(merged.mean()) < 1e293 && merged.variance() == kInfinity);
  merged.add(0);
  CHECK(merged.variance() == kInfinity && merged.count() == 5);
  RunningStats more = of({-kHuge, -kHuge, kHuge});
  CHECK(near(more.mean(), -kHuge / 3, 1e-12));
  double tiny = std::numeric_limits<double>::denorm_min();
  CHECK(of({tiny, tiny}).mean() == tiny);
}

static void quantiles() {
  std::vector<double> values = {40, 10, 30, 20};
  CHECK(quantile(values, 0) == 10 && quantile(values, 1) == 40 && quantile(values, 0.5) == 25);
  CHECK(quantile(values, 0.25) == 17.5 && values[0] == 40);
  CHECK(quantile({7}, 0.3) == 7 && quantile({7}, 0) == 7 && quantile({7}, 1) == 7);
  CHECK(refuses([] { quantile({}, 0.5); }) && refuses([] { quantile({1, 2}, -0.01); }));
  CHECK(refuses([] { quantile({1, 2}, 1.01); }) && refuses([] { quantile({1, 2}, kNothing); }));
  CHECK(refuses([] { quantile({1, kNothing}, 0.5); }));
  CHECK(std::abs(quantile({-kHuge, kHuge}, 0.5)) < 1e293 && quantile({-kHuge, kHuge}, 1) == kHuge);
  CHECK(near(quantile({-kHuge, kHuge}, 0.75), kHuge / 2, 1e-12));
  for (double q = 0; q <= 1; q += 0.001) CHECK(quantile({0.1, 0.1, 0.1, 0.1}, q) == 0.1);
  CHECK(quantile({1, 2, kInfinity, kInfinity}, 1) == kInfinity && quantile({1, 2, kInfinity, kInfinity}, 0.9) == kInfinity);
  CHECK(quantile({-kInfinity, 5, 6}, 0.5) == 5 && quantile({1, 2, kInfinity}, 0.5) == 2);
}

static void integers() {
  constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max();
  CHECK(floor_mean({1, 2}) == 1 && floor_mean({-1, -2}) == -2 && floor_mean({-1, 0}) == -1 && floor_mean({-4}) == -4);
  CHECK(floor_mean({high, high, high}) == high && floor_mean({low, low}) == low && floor_mean({low, high}) == -1);
  CHECK(floor_mean({high, high - 1}) == high - 1 && floor_mean({9007199254740993, 9007199254740993}) == 9007199254740993);
  CHECK(refuses([] { floor_mean({}); }));
}

int main() {
  empty_and_single();
  special_values();
  precision();
  merging();
  huge_values();
  quantiles();
  integers();
}
