#pragma once
#include <string>

#include "timetable.hpp"

/** Takes seats of a flight. Returns the seats that are left, -1 for an unknown flight, or -2 if there are too few. */
int book(Timetable& timetable, const std::string& code, int seats);
