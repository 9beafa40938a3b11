#pragma once
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

/** What went wrong, in words for the user. */
struct Error {
  std::string message;

  /** The same error, with the place where it happened in front. */
  Error in(const std::string& place) const { return Error{place + ": " + message}; }
};

/** A value, or the error because of which there is none. Asking for the wrong one of them ends the program. */
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return value_.has_value(); }
  const T& value() const {
    if (!value_) std::abort();
    return *value_;
  }
  const Error& error() const {
    if (value_) std::abort();
    return error_;
  }

 private:
  std::optional<T> value_;
  Error error_;
};

/** Success, or an error. */
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  const Error& error() const {
    if (!error_) std::abort();
    return *error_;
  }

 private:
  std::optional<Error> error_;
};
