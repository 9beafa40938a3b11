#include "fields.hpp"

#include <cctype>
#include <cstdlib>

#include "errors.hpp"

std::string last_error;

bool parse_number(const std::string& text, int* number) {
  *number = std::atoi(text.c_str());
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) {
    last_error = "not a number";
    return false;
  }
  return true;
}

int parse_clock(const std::string& text) {
  if (text.size() != 5 || text[2] != ':') return -1;
  int hours = std::atoi(text.substr(0, 2).c_str());
  int minutes = std::atoi(text.substr(3).c_str());
  if (hours > 23 || minutes > 59) return -1;
  return hours * 60 + minutes;
}

bool parse_code(const std::string& text, std::string* code) {
  if (text.size() < 2 || text.size() > 6) {
    last_error = "bad code";
    return false;
  }
  *code = text;
  return true;
}
