#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

/** A queue between threads that holds at most `capacity` values. */
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  bool push(T value) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (values_.size() >= capacity_) changed_.wait(lock);
    values_.push_back(value);
    changed_.notify_one();
    return true;
  }

  std::optional<T> pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (values_.empty()) changed_.wait(lock);
    if (values_.empty()) return std::nullopt;
    T value = values_.front();
    values_.pop_front();
    changed_.notify_one();
    return value;
  }

  void close() {
    closed_ = true;
    changed_.notify_one();
  }

  std::size_t size() const { return values_.size(); }

 private:
  std::size_t capacity_;
  std::deque<T> values_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
};
