#pragma once
#include <string>
#include <vector>

#include "timetable.hpp"

/**
 * Finds the connection with the least time from departure to arrival: one flight, or two with at least 30 minutes between
 * them. Of equally short ones it takes the one with fewer flights, then the one whose flights have the smallest codes.
 */
bool connect(const Timetable& timetable, const std::string& from, const std::string& to, std::vector<Flight>* flights);

/** The minutes from the departure to the arrival of this connection, or -1. */
int shortest(const Timetable& timetable, const std::string& from, const std::string& to);
