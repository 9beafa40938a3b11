#pragma once
#include "station.hpp"

/** One line for each sensor, such as `hill/wind  12 m`: the sum of its values, rounded to the nearest whole number. */
std::string report(const Station& station);
