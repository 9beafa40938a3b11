#pragma once
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "bounded_queue.hpp"

/** Runs jobs on a fixed number of threads. */
class JobPool {
 public:
  JobPool(std::size_t threads, std::size_t capacity) : queue_(capacity) {
    for (std::size_t i = 0; i < threads; i++) {
      threads_.emplace_back([this] {
        while (auto job = queue_.pop()) (*job)();
      });
    }
  }

  ~JobPool() {
    queue_.close();
    for (std::thread& thread : threads_) thread.detach();
  }

  /** Gives the result of work(), or its exception. */
  template <typename F>
  auto submit(F work) -> std::future<decltype(work())> {
    auto task = std::make_shared<std::packaged_task<decltype(work())()>>(work);
    auto result = task->get_future();
    queue_.push([task] { (*task)(); });
    return result;
  }

  void wait_idle() {
    while (queue_.size() > 0) std::this_thread::yield();
  }

 private:
  BoundedQueue<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
};
