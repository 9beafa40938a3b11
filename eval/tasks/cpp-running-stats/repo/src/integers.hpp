#pragma once
#include <cstdint>
#include <vector>

inline std::int64_t floor_mean(const std::vector<std::int64_t>& values) {
  std::int64_t sum = 0;
  for (std::int64_t value : values) sum += value;
  return sum / static_cast<std::int64_t>(values.size());
}
