#pragma once
#include "series.hpp"
#include "station.hpp"
#include "units.hpp"

/** A sensor of a station. The station must live longer. */
class Sensor {
 public:
  Sensor(Station& station, std::string name) : station_(&station), name_(std::move(name)) {}

  std::string path() const { return station_->name() + "/" + name_; }

  void record(const Quantity& quantity) {
    series_.add(to_base(quantity));
    log_line(1, path());
  }

  const Series<double>& series() const { return series_; }

 private:
  Station* station_;
  std::string name_;
  Series<double> series_;
};
