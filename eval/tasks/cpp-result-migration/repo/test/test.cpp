#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "commands.hpp"
#include "fields.hpp"
#include "timetable.hpp"

#define CHECK(x) \
  do { if (!(x)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #x); std::exit(1); } } while (0)

int main() {
  CHECK(parse_clock("08:30").value() == 510);
  CHECK(parse_clock("25:00").error().message == "\"25:00\" is no time");
  Timetable timetable;
  std::istringstream good("# flights\nLX1 ZRH LHR 08:00 08:55 3\nBA2 LHR EDI 09:30 11:00 5\n");
  CHECK(timetable.load(good).value() == 2);
  std::istringstream bad("LX3 ZRH CDG 08:00 09:00 9\nLX4 ZRH CDG 08:00 9 9\n");
  CHECK(timetable.load(bad).error().message == "line 2: arrival: \"9\" is no time");
  CHECK(timetable.flights().size() == 2);
  std::ostringstream out, err;
  CHECK(run({"route", "ZRH", "EDI"}, timetable, out, err) == 0 && out.str() == "LX1 BA2 180 min\n");
  CHECK(run({"show", "LX9"}, timetable, out, err) == 1 && err.str() == "flights: no flight LX9\n");
}
