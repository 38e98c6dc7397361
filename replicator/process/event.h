// An event that poll() can wait for: a signal from one thread to another.
#pragma once

namespace lockstep {

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// From any thread. It stays set.
  void set();

  int descriptor() const { return descriptor_; }  ///< readable once it is set

 private:
  int descriptor_ = -1;
};

}  // namespace lockstep
