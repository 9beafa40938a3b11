#pragma once
#include <string>

bool parse_number(const std::string& text, int* number);

/** The minute of the day, or -1. */
int parse_clock(const std::string& text);

bool parse_code(const std::string& text, std::string* code);
