#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <type_traits>

#include "booking.hpp"
#include "commands.hpp"
#include "fields.hpp"
#include "flight.hpp"
#include "result.hpp"
#include "routes.hpp"
#include "timetable.hpp"

#define CHECK(x) \
  do { if (!(x)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #x); std::exit(1); } } while (0)

static_assert(std::is_same_v<decltype(parse_number("")), Result<int>>);
static_assert(std::is_same_v<decltype(parse_clock("")), Result<int>>);
static_assert(std::is_same_v<decltype(parse_code("")), Result<std::string>>);
static_assert(std::is_same_v<decltype(parse_flight("")), Result<Flight>>);
static_assert(std::is_same_v<decltype(std::declval<const Timetable&>().find("")), Result<Flight>>);
static_assert(std::is_same_v<decltype(std::declval<Timetable&>().add(Flight())), Result<void>>);

template <typename T>
static bool fails(const Result<T>& result, const std::string& message) {
  if (result.ok()) return false;
  if (result.error().message != message) std::fprintf(stderr, "%s\n", result.error().message.c_str());
  return result.error().message == message;
}

static void fields() {
  CHECK(parse_number("0").value() == 0 && parse_number("2147483647").value() == 2147483647);
  CHECK(parse_number("007").value() == 7 && parse_number("0000000000000000000012").value() == 12);
  CHECK(fails(parse_number("2147483648"), "\"2147483648\" is too large"));
  CHECK(fails(parse_number("99999999999999999999999"), "\"99999999999999999999999\" is too large"));
  for (std::string text : {"", "12x", "-1", "+1", " 1", "1 ", "x", "1.5"}) {
    CHECK(fails(parse_number(text), "\"" + text + "\" is no number"));
  }
  CHECK(parse_clock("00:00").value() == 0 && parse_clock("23:59").value() == 1439);
  for (std::string text : {"24:00", "12:60", "1:00", "01:0", "aa:bb", "-1:00", "12-30", " 1:00", "01:0x", "01:000", ""}) {
    CHECK(fails(parse_clock(text), "\"" + text + "\" is no time"));
  }
  CHECK(parse_code("LX").value() == "LX" && parse_code("A12345").value() == "A12345");
  for (std::string text : {"", "A", "ABCDEFG", "1AB", "Ab1", "A-B"}) {
    CHECK(fails(parse_code(text), "\"" + text + "\" is no code"));
  }
}

static void flights() {
  Flight flight = parse_flight("  LX1 ZRH\tLHR 08:00 08:55   3 ").value();
  CHECK(flight.code == "LX1" && flight.from == "ZRH" && flight.to == "LHR" && flight.seats == 3);
  CHECK(flight.departure == 480 && flight.arrival == 535 && duration(flight).value() == 55);
  CHECK(fails(parse_flight(""), "expected 6 fields, found 0"));
  CHECK(fails(parse_flight("a b c d e f g"), "expected 6 fields, found 7"));
  CHECK(fails(parse_flight("1 2 3 4 5 6"), "flight: \"1\" is no code"));
  CHECK(fails(parse_flight("LX1 2 3 4 5 6"), "from: \"2\" is no code"));
  CHECK(fails(parse_flight("LX1 ZRH lhr 4 5 6"), "to: \"lhr\" is no code"));
  CHECK(fails(parse_flight("LX1 ZRH LHR 4 5 6"), "departure: \"4\" is no time"));
  CHECK(fails(parse_flight("LX1 ZRH LHR 08:00 5 x"), "arrival: \"5\" is no time"));
  CHECK(fails(parse_flight("LX1 ZRH LHR 08:00 07:00 x"), "seats: \"x\" is no number"));
  CHECK(fails(parse_flight("LX1 ZRH LHR 08:00 08:00 1"), "flight LX1 does not arrive after it departs"));
  Flight back{"QQ", "ZRH", "LHR", 600, 500, 1};
  CHECK(fails(duration(back), "flight QQ does not arrive after it departs"));
  CHECK(parse_flight("LX1 ZRH LHR 00:00 00:01 0").value().departure == 0);
}

static Timetable example() {
  Timetable timetable;
  std::istringstream input(
      "# code from to departure arrival seats\n\n"
      "LX1 ZRH LHR 08:00 08:55 3\nBA2 LHR EDI 09:25 11:00 5\nBA3 LHR EDI 09:24 09:40 5\nLX5 ZRH EDI 07:00 10:30 2\n"
      "AA1 ZRH EDI 12:00 15:00 2\nAF7 ZRH CDG 08:00 08:30 9\nAF8 CDG EDI 10:00 11:00 9\nLX6 ZRH EDI 13:00 16:00 1\n");
  CHECK(timetable.load(input).value() == 8);
  return timetable;
}

static void timetables() {
  Timetable timetable = example();
  CHECK(timetable.find("LX1").value().seats == 3 && fails(timetable.find("LX9"), "no flight LX9"));
  CHECK(fails(timetable.add(timetable.find("LX1").value()), "flight LX1 exists"));
  CHECK(fails(timetable.add({"ZZ", "ZRH", "LHR", 600, 600, 1}), "flight ZZ does not arrive after it departs"));
  CHECK(fails(timetable.add({"LX1", "ZRH", "LHR", 600, 600, 1}), "flight LX1 does not arrive after it departs"));
  CHECK(timetable.add({"ZZ", "ZRH", "LHR", 600, 601, 1}).ok() && timetable.flights().size() == 9);
  auto load = [&](const std::string& text) {
    std::istringstream input(text);
    return timetable.load(input);
  };
  CHECK(fails(load("N1 ZRH LHR 08:00 09:00 1\n# x\n\nN2 ZRH LHR 08:00 09:00 x\n"), "line 4: seats: \"x\" is no number"));
  CHECK(fails(load("N1 ZRH LHR 08:00 09:00 1\nLX1 ZRH LHR 08:00 09:00 1\n"), "line 2: flight LX1 exists"));
  CHECK(fails(load("N1 ZRH LHR 08:00 09:00 1\nN1 ZRH LHR 08:00 09:00 1\n"), "line 2: flight N1 exists"));
  CHECK(fails(load("N1 ZRH LHR 08:00 09:00 1\nN2 ZRH LHR 09:00 08:00 1"), "line 2: flight N2 does not arrive after it departs"));
  CHECK(timetable.flights().size() == 9 && !timetable.find("N1").ok());
  CHECK(load("").value() == 0 && load("N1 ZRH LHR 08:00 09:00 1").value() == 1 && timetable.find("N1").ok());
}

static std::string codes(const Result<std::vector<Flight>>& flights) {
  std::string text;
  for (const Flight& flight : flights.value()) text += flight.code + " ";
  return text;
}

static void routes() {
  Timetable timetable = example();
  CHECK(codes(connect(timetable, "ZRH", "EDI")) == "AA1 " && shortest(timetable, "ZRH", "EDI").value() == 180);
  CHECK(codes(connect(timetable, "ZRH", "LHR")) == "LX1 " && shortest(timetable, "ZRH", "LHR").value() == 55);
  CHECK(timetable.add({"AF9", "CDG", "EDI", 540, 600, 1}).ok());
  CHECK(codes(connect(timetable, "ZRH", "EDI")) == "AF7 AF9 " && shortest(timetable, "ZRH", "EDI").value() == 120);
  CHECK(fails(connect(timetable, "EDI", "ZRH"), "no connection from EDI to ZRH"));
  CHECK(fails(shortest(timetable, "EDI", "ZRH"), "no connection from EDI to ZRH"));
  CHECK(fails(shortest(timetable, "x", "y"), "from: \"x\" is no code"));
  CHECK(fails(connect(timetable, "ZRH", "y"), "to: \"y\" is no code"));
}

static void bookings() {
  Timetable timetable = example();
  CHECK(book(timetable, "LX1", 1).value() == 2 && book(timetable, "LX1", 2).value() == 0);
  CHECK(fails(book(timetable, "LX1", 1), "flight LX1: only 0 seats are left"));
  CHECK(fails(book(timetable, "BA2", 6), "flight BA2: only 5 seats are left"));
  CHECK(fails(book(timetable, "LX9", 1), "no flight LX9"));
  CHECK(fails(book(timetable, "LX9", 0), "seats: 0 is not above 0"));
  CHECK(fails(book(timetable, "BA2", -3), "seats: -3 is not above 0"));
  CHECK(timetable.find("BA2").value().seats == 5);
}

static void commands() {
  Timetable timetable = example();
  auto runs = [&](const std::vector<std::string>& args, int code, const std::string& output, const std::string& errors) {
    std::ostringstream out, err;
    int ended = run(args, timetable, out, err);
    if (ended != code || out.str() != output || err.str() != errors) {
      std::fprintf(stderr, "%d [%s] [%s]\n", ended, out.str().c_str(), err.str().c_str());
      return false;
    }
    return true;
  };
  CHECK(runs({"show", "LX1"}, 0, "LX1 ZRH LHR 55 min, 3 seats\n", ""));
  CHECK(runs({"show", "LX9"}, 1, "", "flights: no flight LX9\n"));
  CHECK(runs({"route", "ZRH", "EDI"}, 0, "AA1 180 min\n", ""));
  CHECK(runs({"route", "EDI", "ZRH"}, 1, "", "flights: no connection from EDI to ZRH\n"));
  CHECK(runs({"route", "ZRH", "?"}, 1, "", "flights: to: \"?\" is no code\n"));
  CHECK(runs({"book", "LX1", "3"}, 0, "0 seats\n", ""));
  CHECK(runs({"book", "LX1", "1"}, 1, "", "flights: flight LX1: only 0 seats are left\n"));
  CHECK(runs({"book", "LX1", "0"}, 1, "", "flights: seats: 0 is not above 0\n"));
  CHECK(runs({"book", "LX1", "1x"}, 1, "", "flights: \"1x\" is no number\n"));
  const std::string usage = "usage: flights show CODE | route FROM TO | book CODE SEATS\n";
  CHECK(runs({}, 2, "", usage) && runs({"show"}, 2, "", usage) && runs({"book", "LX1"}, 2, "", usage));
}

int main() {
  fields();
  flights();
  timetables();
  routes();
  bookings();
  commands();
}
