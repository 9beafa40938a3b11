#include "flight.hpp"

#include <sstream>
#include <vector>

#include "errors.hpp"
#include "fields.hpp"

int duration(const Flight& flight) {
  if (flight.arrival <= flight.departure) return -1;
  return flight.arrival - flight.departure;
}

bool parse_flight(const std::string& line, Flight* flight) {
  std::istringstream stream(line);
  std::vector<std::string> fields;
  for (std::string field; stream >> field;) fields.push_back(field);
  if (fields.size() != 6) {
    last_error = "wrong number of fields";
    return false;
  }
  if (!parse_code(fields[0], &flight->code)) return false;
  parse_code(fields[1], &flight->from);
  parse_code(fields[2], &flight->to);
  flight->departure = parse_clock(fields[3]);
  flight->arrival = parse_clock(fields[4]);
  parse_number(fields[5], &flight->seats);
  return true;
}
