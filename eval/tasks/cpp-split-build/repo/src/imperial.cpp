#include "units.hpp"

static const bool registered = register_unit("ft", 0.3048) && register_unit("mi", 1609.344);
