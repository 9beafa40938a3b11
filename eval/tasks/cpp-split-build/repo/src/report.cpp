#include "report.hpp"

struct Line {
  std::string path;
  std::size_t metres;

  std::string render() const { return path + "  " + std::to_string(metres) + " m\n"; }
};

std::string report(const Station& station) {
  std::string text;
  for (const auto& sensor : station.sensors()) {
    text += Line{sensor->path(), static_cast<std::size_t>(std::lround(sensor->series().sum()))}.render();
  }
  log_line(1, "report of " + station.name());
  return text;
}
