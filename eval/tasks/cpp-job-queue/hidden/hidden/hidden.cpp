#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "bounded_queue.hpp"
#include "job_pool.hpp"

#define CHECK(x) \
  do { if (!(x)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #x); std::_Exit(1); } } while (0)

using namespace std::chrono_literals;

/** Runs work on a thread of its own and reports whether it ends. */
static std::future<void> start(std::function<void()> work) { return std::async(std::launch::async, std::move(work)); }
static bool ends(const std::future<void>& work) { return work.wait_for(8s) == std::future_status::ready; }
static bool waits(const std::future<void>& work) { return work.wait_for(60ms) == std::future_status::timeout; }

static_assert(!std::is_copy_constructible_v<BoundedQueue<int>> && !std::is_copy_constructible_v<JobPool>);

static void order_and_capacity() {
  BoundedQueue<int> queue(2);
  CHECK(queue.push(1) && queue.push(2) && queue.size() == 2 && !queue.try_push(3) && queue.size() == 2);
  auto third = start([&] { CHECK(queue.push(3)); });
  CHECK(waits(third) && queue.size() == 2);
  CHECK(queue.pop() == 1 && ends(third) && queue.size() == 2 && queue.pop() == 2 && queue.pop() == 3);
  CHECK(!queue.try_pop() && queue.try_push(4) && queue.try_pop() == 4);
  BoundedQueue<int> none(0);
  CHECK(none.try_push(1) && !none.try_push(2));
}

static void limits_of_time() {
  BoundedQueue<int> queue(1);
  auto before = std::chrono::steady_clock::now();
  CHECK(!queue.pop_for(30ms));
  CHECK(std::chrono::steady_clock::now() - before >= 30ms);
  CHECK(!queue.pop_for(0ms) && !queue.pop_for(-5ms));
  auto late = start([&] { CHECK(queue.pop_for(8s) == 7); });
  CHECK(waits(late) && queue.push(7) && ends(late));
  auto forever = start([&] { CHECK(!queue.pop_for(std::chrono::hours(1))); });
  CHECK(waits(forever));
  queue.close();
  CHECK(ends(forever));
  // Values that others take do not shorten or prolong the time.
  BoundedQueue<int> busy(1);
  std::atomic<bool> is_over{false};
  auto other = start([&] {
    while (!is_over) {
      if (busy.try_push(1)) busy.try_pop();
    }
  });
  auto patient = start([&] {
    for (int i = 0; i < 5; i++) busy.pop_for(20ms);
  });
  CHECK(ends(patient));
  is_over = true;
  CHECK(ends(other));
}

static void closing() {
  BoundedQueue<int> queue(3);
  CHECK(queue.push(1) && queue.push(2) && queue.push(3));
  std::vector<std::future<void>> blocked;
  for (int i = 0; i < 3; i++) blocked.push_back(start([&] { CHECK(!queue.push(9)); }));
  CHECK(waits(blocked[0]) && waits(blocked[1]) && waits(blocked[2]));
  queue.close();
  queue.close();
  for (auto& each : blocked) CHECK(ends(each));
  CHECK(!queue.push(4) && !queue.try_push(4) && queue.size() == 3);
  CHECK(queue.pop() == 1 && queue.pop_for(1ms) == 2 && queue.try_pop() == 3 && !queue.pop() && !queue.pop_for(1h));
  BoundedQueue<int> empty(3);
  std::vector<std::future<void>> hungry;
  for (int i = 0; i < 4; i++) hungry.push_back(start([&] { CHECK(!empty.pop()); }));
  CHECK(waits(hungry[3]));
  empty.close();
  for (auto& each : hungry) CHECK(ends(each));
}


static void values_that_only_move() {
  BoundedQueue<std::unique_ptr<int>> queue(2);
  CHECK(queue.push(std::make_unique<int>(5)) && queue.try_push(std::make_unique<int>(6)));
  auto kept = std::make_unique<int>(7);
  CHECK(!queue.try_push(std::move(kept)) && kept && *kept == 7);
  CHECK(**queue.pop() == 5);
  CHECK(queue.try_push(std::move(kept)) && !kept);
  queue.close();
  kept = std::make_unique<int>(8);
  CHECK(!queue.try_push(std::move(kept)) && kept);
  BoundedQueue<std::shared_ptr<int>> shared(2);
  auto counted = std::make_shared<int>(1);
  CHECK(shared.push(counted) && counted.use_count() == 2);
  shared.pop();
  CHECK(counted.use_count() == 1);
}

static void many_threads() {
  for (int round = 0; round < 3; round++) {
    BoundedQueue<int> queue(1 + round * 3);
    constexpr int kEach = 5000;
    std::atomic<long> sum{0};
    std::atomic<int> count{0};
    std::vector<std::future<void>> makers, takers;
    for (int t = 0; t < 4; t++) {
      takers.push_back(start([&, t] {
        int last[4] = {-1, -1, -1, -1};
        while (auto value = t % 2 == 0 ? queue.pop() : queue.pop_for(8s)) {
          int maker = *value / kEach;
          CHECK(last[maker] < *value);
          last[maker] = *value;
          sum += *value;
          count++;
          CHECK(queue.size() <= static_cast<std::size_t>(1 + round * 3));
        }
      }));
      makers.push_back(start([&, t] {
        for (int i = 0; i < kEach; i++) CHECK(queue.push(t * kEach + i));
      }));
    }
    for (auto& each : makers) CHECK(ends(each));
    queue.close();
    for (auto& each : takers) CHECK(ends(each));
    CHECK(count == 4 * kEach && sum == 4L * kEach * (4L * kEach - 1) / 2);
  }
}

static void pools() {
  std::atomic<int> done{0};
  {
    JobPool pool(3, 2);
    auto answer = pool.submit([] { return std::string("answer"); });
    auto failure = pool.submit([]() -> int { throw std::runtime_error("broken"); });
    auto owned = std::make_unique<int>(3);
    auto moved = pool.submit([owned = std::move(owned)] { return *owned; });
    CHECK(answer.get() == "answer" && moved.get() == 3);
    bool is_thrown = false;
    try {
      failure.get();
    } catch (const std::runtime_error& error) {
      is_thrown = std::string(error.what()) == "broken";
    }
    CHECK(is_thrown);
    for (int i = 0; i < 50; i++) {
      pool.submit([&] {
        std::this_thread::sleep_for(1ms);
        done++;
      });
    }
    pool.wait_idle();
    CHECK(done == 50);
    pool.wait_idle();
    for (int i = 0; i < 30; i++) {
      pool.submit([&] {
        std::this_thread::sleep_for(1ms);
        done++;
      });
    }
  }
  // The destructor runs what was submitted.
  CHECK(done == 80);
}

static void pool_threads() {
  JobPool pool(3, 8);
  std::atomic<int> present{0};
  std::promise<void> together;
  std::vector<std::future<void>> all;
  for (int i = 0; i < 3; i++) {
    all.push_back(pool.submit([&] {
      if (++present == 3) together.set_value();
      auto limit = std::chrono::steady_clock::now() + 8s;
      while (present < 3 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      CHECK(present == 3);
    }));
  }
  for (auto& each : all) CHECK(ends(each));
  // Several threads may wait, and jobs may be submitted meanwhile.
  std::atomic<int> done{0};
  std::vector<std::future<void>> waiting;
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future();
  pool.submit([opened, &done] {
    opened.wait();
    done++;
  });
  for (int i = 0; i < 2; i++) waiting.push_back(start([&] { pool.wait_idle(); CHECK(done == 2); }));
  CHECK(waits(waiting[0]) && waits(waiting[1]));
  pool.submit([&] { done++; });
  CHECK(waits(waiting[0]));
  gate.set_value();
  CHECK(ends(waiting[0]) && ends(waiting[1]));
  JobPool single(0, 0);
  CHECK(single.submit([] { return 4; }).get() == 4);
}

static void jobs_that_submit() {
  std::atomic<int> done{0};
  auto whole = start([&] {
    JobPool pool(2, 1);
    for (int i = 0; i < 4; i++) {
      pool.submit([&] {
        // The queue is full and all threads are at work: these run at once instead of waiting for ever.
        for (int k = 0; k < 20; k++) pool.submit([&] { done++; });
      });
    }
    pool.wait_idle();
    CHECK(done == 80);
  });
  CHECK(ends(whole));
  auto ending = start([&] {
    JobPool pool(1, 4);
    pool.submit([&] {
      std::this_thread::sleep_for(50ms);
      for (int k = 0; k < 20; k++) pool.submit([&] { done++; });
    });
  });
  CHECK(ends(ending) && done == 100);
}

int main() {
  order_and_capacity();
  limits_of_time();
  closing();
  values_that_only_move();
  for (int i = 0; i < 3; i++) many_threads();
  pools();
  pool_threads();
  jobs_that_submit();
}
