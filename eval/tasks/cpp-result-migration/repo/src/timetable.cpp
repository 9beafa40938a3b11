#include "timetable.hpp"

#include "errors.hpp"

bool Timetable::add(const Flight& flight) {
  if (flights_.count(flight.code) > 0) {
    last_error = "flight exists";
    return false;
  }
  flights_[flight.code] = flight;
  return true;
}

const Flight* Timetable::find(const std::string& code) const {
  auto found = flights_.find(code);
  return found == flights_.end() ? nullptr : &found->second;
}

void Timetable::set_seats(const std::string& code, int seats) { flights_.at(code).seats = seats; }

int Timetable::load(std::istream& input) {
  int count = 0;
  for (std::string line; std::getline(input, line);) {
    if (line.empty() || line[0] == '#') continue;
    Flight flight;
    if (!parse_flight(line, &flight)) return -1;
    add(flight);
    ++count;
  }
  return count;
}
