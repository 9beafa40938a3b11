#pragma once
#include <cstddef>
#include <functional>
#include <list>
#include <utility>

template <typename Event>
class EventBus {
 public:
  using Handler = std::function<void(const Event&)>;

  class Subscription {
   public:
    Subscription() = default;
    Subscription(EventBus* bus, typename std::list<Handler>::iterator at) : bus_(bus), at_(at) {}
    ~Subscription() { cancel(); }
    void cancel() {
      if (bus_ != nullptr) bus_->handlers_.erase(at_);
    }

   private:
    EventBus* bus_ = nullptr;
    typename std::list<Handler>::iterator at_;
  };

  Subscription subscribe(Handler handler) {
    return Subscription(this, handlers_.insert(handlers_.end(), std::move(handler)));
  }

  void publish(const Event& event) {
    for (auto& handler : handlers_) handler(event);
  }

  std::size_t size() const { return handlers_.size(); }

 private:
  std::list<Handler> handlers_;
};
