#pragma once
#include <vector>

/** Values in the order in which they came. T needs a default value, + and <. */
template <typename T>
class Series {
 public:
  void add(const T& value);
  T sum() const;
  /** The largest value; the default value if there is none. */
  T largest() const;
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<T> values_;
};
