#pragma once
#include <istream>
#include <map>
#include <string>

#include "flight.hpp"

class Timetable {
 public:
  /** Returns false if the flight exists. */
  bool add(const Flight& flight);

  /** Returns nullptr if there is none. */
  const Flight* find(const std::string& code) const;

  /** Sets the seats of a flight that exists. */
  void set_seats(const std::string& code, int seats);

  /** Reads one flight a line; empty lines and lines that begin with # are left out. Returns the number of flights, or -1. */
  int load(std::istream& input);

  /** All flights, by code. */
  const std::map<std::string, Flight>& flights() const { return flights_; }

 private:
  std::map<std::string, Flight> flights_;
};
