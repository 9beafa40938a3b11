#pragma once
#include <cmath>
#include <cstdint>

class RunningStats {
 public:
  void add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
    if (count_ == 1 || value < min_) min_ = value;
    if (count_ == 1 || value > max_) max_ = value;
  }

  void merge(const RunningStats& other) {
    count_ += other.count_;
    sum_ += other.sum_;
    squares_ += other.squares_;
    if (other.min_ < min_) min_ = other.min_;
    if (other.max_ > max_) max_ = other.max_;
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t skipped() const { return 0; }
  double sum() const { return sum_; }
  double mean() const { return sum_ / count_; }
  double variance() const { return (squares_ - sum_ * sum_ / count_) / (count_ - 1); }
  double min() const { return min_; }
  double max() const { return max_; }

 private:
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
  double min_ = 0;
  double max_ = 0;
};
