#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

#include "interval_set.hpp"

#define CHECK(x) \
  do { if (!(x)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #x); std::exit(1); } } while (0)

using Position = IntervalSet::Position;
using Range = IntervalSet::Range;
using Ranges = std::vector<Range>;

static void random_steps() {
  std::mt19937 random(5);
  constexpr int SIZE = 60;
  for (int round = 0; round < 60; round++) {
    IntervalSet set, again;
    std::vector<bool> model(SIZE);
    for (int step = 0; step < 60; step++) {
      Position from = random() % SIZE, to = random() % (SIZE + 1);
      bool adds = random() % 2 == 0;
      adds ? set.add(from, to) : set.remove(from, to);
      for (Position i = from; i < to; i++) model[i] = adds;
      Ranges expected;
      std::uint64_t total = 0;
      for (int i = 0; i < SIZE; i++) {
        CHECK(set.contains(i) == model[i]);
        if (!model[i]) continue;
        total++;
        if (!expected.empty() && expected.back().second == i) expected.back().second++;
        else expected.push_back({i, i + 1});
      }
      CHECK(set.ranges() == expected && set.total() == total);
      Position a = random() % SIZE, b = random() % (SIZE + 1);
      Position gap = a;
      while (gap < b && model[gap]) gap++;
      CHECK(set.covers(a, b) == (gap >= b));
      Position end = gap;
      while (end < b && !model[end]) end++;
      auto found = set.first_gap(a, b);
      CHECK(found.has_value() == (gap < b));
      if (found) CHECK((*found == Range{gap, end}));
    }
    for (auto [from, to] : set.ranges()) again.add(from, to);
    CHECK(again == set);
    again.add(1000, 1001);
    CHECK(!(again == set));
  }
}

int main() {
  random_steps();
  constexpr Position LOW = std::numeric_limits<Position>::min(), HIGH = std::numeric_limits<Position>::max();
  IntervalSet all;
  CHECK(all.total() == 0 && all.covers(3, 3) && all.covers(4, 3) && !all.contains(0));
  CHECK((all.first_gap(LOW, HIGH) == Range{LOW, HIGH}));
  all.add(5, 5);
  all.add(5, -5);
  CHECK(all.ranges().empty());
  all.add(LOW, HIGH);
  CHECK(all.total() == std::numeric_limits<std::uint64_t>::max());
  CHECK(all.contains(LOW) && all.contains(HIGH - 1) && !all.contains(HIGH) && all.covers(LOW, HIGH));
  CHECK(!all.first_gap(LOW, HIGH));
  all.remove(LOW, LOW + 1);
  all.remove(HIGH - 1, HIGH);
  CHECK((all.ranges() == Ranges{{LOW + 1, HIGH - 1}}));

  // Many ranges, most of which are far from the end.
  IntervalSet many;
  constexpr Position COUNT = 200000;
  for (Position i = COUNT; i > 0; i--) many.add(i * 4, i * 4 + 2);
  for (Position i = 1; i <= COUNT; i++) CHECK(many.contains(i * 4) && !many.covers(i * 4, i * 4 + 3));
  CHECK(many.total() == 2 * COUNT);
  for (Position i = COUNT; i > 0; i--) many.remove(i * 4, i * 4 + 1);
  CHECK(many.total() == COUNT);
  for (Position i = COUNT; i > 0; i--) many.add(i * 4 - 4, i * 4 + 2);
  CHECK((many.ranges() == Ranges{{0, COUNT * 4 + 2}}));
  return 0;
}
