#include "units.hpp"

#include <map>
#include <stdexcept>

std::map<std::string, double> units;

bool register_unit(const std::string& name, double factor) {
  return units.emplace(name, factor).second;
}

double to_base(const Quantity& quantity) {
  return quantity.value * units.at(quantity.unit);
}
