#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "bounded_queue.hpp"
#include "job_pool.hpp"

#define CHECK(x) \
  do { if (!(x)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #x); std::_Exit(1); } } while (0)

int main() {
  BoundedQueue<int> queue(2);
  std::atomic<long> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([&] {
      while (auto value = queue.pop()) sum += *value;
    });
  }
  for (int i = 1; i <= 3000; i++) CHECK(queue.push(i));
  queue.close();
  for (std::thread& thread : threads) thread.join();
  CHECK(sum == 3000L * 3001 / 2 && !queue.push(1));

  std::atomic<int> done{0};
  JobPool pool(2, 4);
  for (int i = 0; i < 100; i++) pool.submit([&] { done++; });
  pool.wait_idle();
  CHECK(done == 100);
}
