#include "routes.hpp"

#include "errors.hpp"
#include "fields.hpp"

bool connect(const Timetable& timetable, const std::string& from, const std::string& to, std::vector<Flight>* flights) {
  int best = -1;
  for (const auto& [code, flight] : timetable.flights()) {
    if (flight.from != from || flight.to != to) continue;
    if (best == -1 || duration(flight) < best) {
      best = duration(flight);
      *flights = {flight};
    }
  }
  for (const auto& [code, first] : timetable.flights()) {
    if (first.from != from) continue;
    for (const auto& [other, second] : timetable.flights()) {
      if (second.from != first.to || second.to != to || second.departure < first.arrival + 30) continue;
      int minutes = second.arrival - first.departure;
      if (best == -1 || minutes < best) {
        best = minutes;
        *flights = {first, second};
      }
    }
  }
  if (best == -1) last_error = "no connection";
  return best != -1;
}

int shortest(const Timetable& timetable, const std::string& from, const std::string& to) {
  std::vector<Flight> flights;
  connect(timetable, from, to, &flights);
  return flights.empty() ? -1 : flights.back().arrival - flights.front().departure;
}
