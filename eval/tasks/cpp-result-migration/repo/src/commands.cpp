#include "commands.hpp"

#include "booking.hpp"
#include "errors.hpp"
#include "fields.hpp"
#include "routes.hpp"

static int fail(std::ostream& err) {
  err << "flights: " << last_error << "\n";
  return 1;
}

int run(const std::vector<std::string>& args, Timetable& timetable, std::ostream& out, std::ostream& err) {
  if (args.size() == 2 && args[0] == "show") {
    const Flight* flight = timetable.find(args[1]);
    if (flight == nullptr) return fail(err);
    out << flight->code << " " << flight->from << " " << flight->to << " " << duration(*flight) << " min, "
        << flight->seats << " seats\n";
    return 0;
  }
  if (args.size() == 3 && args[0] == "route") {
    std::vector<Flight> flights;
    connect(timetable, args[1], args[2], &flights);
    for (const Flight& flight : flights) out << flight.code << " ";
    out << shortest(timetable, args[1], args[2]) << " min\n";
    return 0;
  }
  if (args.size() == 3 && args[0] == "book") {
    int seats = 0;
    if (!parse_number(args[2], &seats)) return fail(err);
    int left = book(timetable, args[1], seats);
    if (left < 0) return fail(err);
    out << left << " seats\n";
    return 0;
  }
  err << "usage: flights show CODE | route FROM TO | book CODE SEATS\n";
  return 2;
}
