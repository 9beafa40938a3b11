#include "log.hpp"

static std::string last;

void log_line(int level, const std::string& text) {
  if (level > log_level) return;
  last = text;
  ++log_count;
}

const std::string& last_log_line() { return last; }
