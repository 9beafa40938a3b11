#include "series.hpp"

template <typename T>
void Series<T>::add(const T& value) {
  values_.push_back(value);
}

template <typename T>
T Series<T>::sum() const {
  T total{};
  for (const T& value : values_) total = total + value;
  return total;
}

template <typename T>
T Series<T>::largest() const {
  T found{};
  bool is_first = true;
  for (const T& value : values_) {
    if (is_first || found < value) found = value;
    is_first = false;
  }
  return found;
}
