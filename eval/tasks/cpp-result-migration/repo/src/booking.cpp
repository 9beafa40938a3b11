#include "booking.hpp"

int book(Timetable& timetable, const std::string& code, int seats) {
  const Flight* flight = timetable.find(code);
  if (flight == nullptr) return -1;
  if (flight->seats < seats) return -2;
  int left = flight->seats - seats;
  timetable.set_seats(code, left);
  return left;
}
