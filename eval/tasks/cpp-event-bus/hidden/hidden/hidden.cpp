#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "event_bus.hpp"

#define CHECK(x) \
  do { if (!(x)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #x); std::exit(1); } } while (0)

using Bus = EventBus<std::string>;
using Subscription = Bus::Subscription;
static_assert(!std::is_copy_constructible_v<Subscription> && !std::is_copy_assignable_v<Subscription>);
static_assert(std::is_move_constructible_v<Subscription> && std::is_move_assignable_v<Subscription>);
static_assert(!std::is_copy_constructible_v<Bus> && !std::is_move_constructible_v<Bus>);

static std::string seen;
static std::string take() { return std::exchange(seen, ""); }
static Bus::Handler note(const char* name) {
  return [name](const std::string& event) { seen += name + event + " "; };
}

static void subscriptions() {
  Bus bus;
  auto a = bus.subscribe(note("a"));
  {
    auto b = bus.subscribe(note("b"));
    bus.publish("1");
    CHECK(take() == "a1 b1 " && bus.size() == 2);
  }
  bus.publish("2");
  CHECK(take() == "a2 " && bus.size() == 1);
  Subscription moved = std::move(a);
  a.cancel();
  CHECK(bus.size() == 1);
  auto c = bus.subscribe(note("c"));
  moved = std::move(c);
  CHECK(bus.size() == 1);
  bus.publish("3");
  CHECK(take() == "c3 ");
  moved.cancel();
  moved.cancel();
  CHECK(bus.size() == 0);
  Subscription nothing;
  nothing.cancel();
}

static void changes_during_publish() {
  Bus bus;
  Subscription a, b, c;
  std::vector<Subscription> added;
  a = bus.subscribe([&](const std::string& event) {
    seen += "a" + event + " ";
    a.cancel();
    c.cancel();
    CHECK(bus.size() == 1);
    added.push_back(bus.subscribe(note("n")));
    CHECK(bus.size() == 2);
  });
  b = bus.subscribe(note("b"));
  c = bus.subscribe(note("c"));
  bus.publish("1");
  CHECK(take() == "a1 b1 ");
  bus.publish("2");
  CHECK(take() == "b2 n2 ");
}

static void nested_publish() {
  Bus bus;
  std::vector<Subscription> added;
  Subscription last;
  auto outer = bus.subscribe([&](const std::string& event) {
    seen += "o" + event + " ";
    if (event != "1") return;
    added.push_back(bus.subscribe(note("n")));
    bus.publish("2");
    last.cancel();
  });
  auto middle = bus.subscribe(note("m"));
  last = bus.subscribe(note("l"));
  bus.publish("1");
  CHECK(take() == "o1 o2 m2 l2 n2 m1 ");
  CHECK(bus.size() == 3);
}

static void lifetimes() {
  // The handler that runs owns what it captured, although it cancels itself.
  Bus bus;
  Subscription own;
  auto text = std::make_shared<std::string>("text");
  std::weak_ptr<std::string> watched = text;
  own = bus.subscribe([&own, &watched, text](const std::string&) {
    own.cancel();
    CHECK(!watched.expired() && *text == "text");
  });
  text.reset();
  bus.publish("1");
  CHECK(watched.expired() && bus.size() == 0);

  // A handler may replace its own subscription.
  own = bus.subscribe([&](const std::string&) { own = bus.subscribe(note("r")); });
  bus.publish("1");
  bus.publish("2");
  CHECK(take() == "r2 ");

  // A subscription may outlive its bus.
  Subscription survivor;
  {
    Bus other;
    survivor = other.subscribe(note("s"));
  }
  survivor.cancel();

  // A handler may destroy the bus.
  auto doomed = std::make_unique<Bus>();
  auto destroys = doomed->subscribe([&](const std::string&) { seen += "d "; doomed.reset(); });
  auto after = doomed->subscribe(note("x"));
  doomed->publish("1");
  CHECK(take() == "d " && !doomed);
  after.cancel();

  // The same within a nested publish.
  doomed = std::make_unique<Bus>();
  auto nests = doomed->subscribe([&](const std::string& event) {
    if (event == "1") doomed->publish("2");
    else doomed.reset();
  });
  auto later = doomed->subscribe(note("y"));
  doomed->publish("1");
  CHECK(take() == "");
}

static void exceptions() {
  Bus bus;
  bool throws = true;
  auto bad = bus.subscribe([&](const std::string&) { if (throws) throw std::runtime_error("bad"); });
  auto good = bus.subscribe(note("g"));
  for (int round = 0; round < 2; round++) {
    bool caught = false;
    try { bus.publish("1"); } catch (const std::runtime_error&) { caught = true; }
    CHECK(caught && take() == "");
  }
  throws = false;
  bad.cancel();
  auto added = bus.subscribe(note("h"));
  bus.publish("2");
  CHECK(take() == "g2 h2 " && bus.size() == 2);
}

int main() {
  subscriptions();
  changes_during_publish();
  nested_publish();
  lifetimes();
  exceptions();
  return 0;
}
