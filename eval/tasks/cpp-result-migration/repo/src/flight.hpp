#pragma once
#include <string>

struct Flight {
  std::string code;
  std::string from;
  std::string to;
  /** Minutes of the day. */
  int departure = 0;
  int arrival = 0;
  int seats = 0;
};

/** Minutes in the air, or -1. */
int duration(const Flight& flight);

/** Reads `CODE FROM TO HH:MM HH:MM SEATS`, separated by blanks. */
bool parse_flight(const std::string& line, Flight* flight);
