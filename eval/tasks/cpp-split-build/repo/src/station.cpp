#include "station.hpp"

struct Line {
  std::string path;
  std::size_t count;

  std::string render() const { return path + ": " + std::to_string(count) + " values\n"; }
};

std::string Station::summary() const {
  std::string text;
  for (const auto& sensor : sensors_) text += Line{sensor->path(), sensor->series().size()}.render();
  log_line(2, "summary of " + name_);
  return text;
}
