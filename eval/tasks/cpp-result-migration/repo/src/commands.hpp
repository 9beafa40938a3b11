#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "timetable.hpp"

/**
 * Runs `show CODE`, `route FROM TO` or `book CODE SEATS` and returns the exit code: 0, 1 for an error, 2 for wrong usage.
 * Show prints `LX1 ZRH LHR 55 min, 3 seats`, route prints the codes of the flights and the minutes (`LX1 BA2 180 min`), and
 * book prints the seats that are left (`2 seats`).
 */
int run(const std::vector<std::string>& args, Timetable& timetable, std::ostream& out, std::ostream& err);
