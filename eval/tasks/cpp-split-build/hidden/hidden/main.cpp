#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "log.hpp"
#include "report.hpp"
#include "sensor.hpp"
#include "series.hpp"
#include "station.hpp"
#include "units.hpp"

#define CHECK(x) \
  do { if (!(x)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #x); std::exit(1); } } while (0)

static const bool own = register_unit("league", 4828.032);
int count_from_elsewhere();

static bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

int main() {
  CHECK(own && !register_unit("mi", 3) && !register_unit("m", 3) && !register_unit("league", 3));
  CHECK(near(to_base({2, "km"}), 2000) && near(to_base({2, "cm"}), 0.02) && near(to_base({1, "m"}), 1));
  CHECK(near(to_base({10, "ft"}), 3.048) && near(to_base({1, "mi"}), 1609.344) && near(to_base({1, "league"}), 4828.032));
  bool is_thrown = false;
  try {
    to_base({1, "yard"});
  } catch (const std::out_of_range&) {
    is_thrown = true;
  }
  CHECK(is_thrown);

  Series<std::string> words;
  CHECK(words.largest().empty() && words.sum().empty());
  words.add("b");
  words.add("a");
  CHECK(words.sum() == "ba" && words.largest() == "b" && words.size() == 2);
  Series<long long> numbers;
  numbers.add(-5);
  numbers.add(-7);
  CHECK(numbers.largest() == -5 && numbers.sum() == -12);

  CHECK(logged_lines() == 0 && log_level == 1);
  Station hill("hill");
  Sensor& wind = hill.add("wind");
  Sensor* first = &wind;
  for (int i = 0; i < 50; i++) hill.add("s" + std::to_string(i));
  CHECK(hill.sensors().front().get() == first && wind.path() == "hill/wind");
  wind.record({2, "km"});
  wind.record({10, "ft"});
  CHECK(logged_lines() == 2 && count_from_elsewhere() == 2 && last_log_line() == "hill/wind");
  CHECK(hill.summary().find("hill/wind: 2 values\nhill/s0: 0 values\n") == 0);
  CHECK(logged_lines() == 2);
  CHECK(report(hill).find("hill/wind  2003 m\nhill/s0  0 m\n") == 0);
  CHECK(logged_lines() == 3 && last_log_line() == "report of hill");
  log_level = 2;
  hill.summary();
  CHECK(count_from_elsewhere() == 4 && last_log_line() == "summary of hill");
}
