#pragma once
#include <string>

/** Describes the last thing that went wrong. */
extern std::string last_error;
