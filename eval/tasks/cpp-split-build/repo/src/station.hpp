#pragma once
#include "sensor.hpp"

#include <memory>
#include <vector>

class Station {
 public:
  explicit Station(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  /** Adds a sensor. The reference stays valid as long as the station lives. */
  Sensor& add(const std::string& name) {
    sensors_.push_back(std::make_unique<Sensor>(*this, name));
    return *sensors_.back();
  }

  /** One line for each sensor, such as `hill/wind: 3 values`. */
  std::string summary() const;

  const std::vector<std::unique_ptr<Sensor>>& sensors() const { return sensors_; }

 private:
  std::string name_;
  std::vector<std::unique_ptr<Sensor>> sensors_;
};
