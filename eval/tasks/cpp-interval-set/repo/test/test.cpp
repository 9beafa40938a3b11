#include <cassert>

#include "interval_set.hpp"

int main() {
  using Ranges = std::vector<IntervalSet::Range>;
  IntervalSet set;
  set.add(10, 20);
  set.add(30, 40);
  set.add(20, 25);
  assert((set.ranges() == Ranges{{10, 25}, {30, 40}}));
  set.remove(12, 14);
  assert((set.ranges() == Ranges{{10, 12}, {14, 25}, {30, 40}}));
  assert(set.contains(14) && !set.contains(12) && set.covers(14, 25) && set.total() == 23);
  assert((set.first_gap(10, 20) == IntervalSet::Range{12, 14}));
  return 0;
}
