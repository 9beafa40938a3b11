#include "log.hpp"
#include "report.hpp"
#include "log.hpp"

struct Line {
  int unrelated[64];
  std::string render() const { return "a line of another program"; }
};

int count_from_elsewhere() {
  Line line{};
  return line.render().empty() ? -1 : logged_lines();
}
