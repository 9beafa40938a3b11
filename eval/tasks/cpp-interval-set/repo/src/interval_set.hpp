#pragma once
#include <cstdint>
#include <utility>
#include <vector>

// A set of positions, kept as ranges [from, to).
class IntervalSet {
 public:
  using Position = std::int64_t;
  using Range = std::pair<Position, Position>;

  void add(Position from, Position to) { ranges_.push_back({from, to}); }

  std::vector<Range> ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};
