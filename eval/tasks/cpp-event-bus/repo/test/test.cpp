#include <cassert>
#include <string>

#include "event_bus.hpp"

int main() {
  EventBus<int> bus;
  std::string seen;
  EventBus<int>::Subscription first, second;
  first = bus.subscribe([&](const int&) {
    seen += "1";
    first.cancel();
  });
  second = bus.subscribe([&](const int&) { seen += "2"; });
  bus.publish(0);
  bus.publish(0);
  assert(seen == "122" && bus.size() == 1);
  return 0;
}
