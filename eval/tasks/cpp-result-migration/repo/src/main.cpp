#include <fstream>
#include <iostream>

#include "commands.hpp"
#include "errors.hpp"

int main(int count, char** arguments) {
  Timetable timetable;
  std::ifstream file("flights.txt");
  if (timetable.load(file) < 0) {
    std::cerr << "flights: flights.txt: " << last_error << "\n";
    return 1;
  }
  return run(std::vector<std::string>(arguments + 1, arguments + count), timetable, std::cout, std::cerr);
}
