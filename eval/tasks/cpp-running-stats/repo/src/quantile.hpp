#pragma once
#include <algorithm>
#include <vector>

inline double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  double position = q * (values.size() - 1);
  std::size_t below = static_cast<std::size_t>(position);
  double part = position - below;
  return values[below] * (1 - part) + values[below + 1] * part;
}
