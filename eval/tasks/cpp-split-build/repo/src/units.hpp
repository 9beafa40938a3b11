#include <string>

/** Adds a unit. Returns false if it was known. */
bool register_unit(const std::string& name, double factor);

struct Quantity {
  double value;
  std::string unit;
};

/** Converts to the base unit. Throws std::out_of_range for an unknown unit. */
double to_base(const Quantity& quantity);
