#include "units.hpp"

static const bool registered = register_unit("m", 1) && register_unit("km", 1000) && register_unit("cm", 0.01);
