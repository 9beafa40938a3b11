#include <cstdio>
#include <cstdlib>

#include "log.hpp"
#include "report.hpp"
#include "station.hpp"
#include "units.hpp"

#define CHECK(x) \
  do { if (!(x)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #x); std::exit(1); } } while (0)

int main() {
  Station hill("hill");
  Sensor& snow = hill.add("snow");
  snow.record({2, "km"});
  snow.record({10, "ft"});
  CHECK(hill.summary() == "hill/snow: 2 values\n");
  CHECK(report(hill) == "hill/snow  2003 m\n");
  CHECK(logged_lines() == 3 && last_log_line() == "report of hill");
}
