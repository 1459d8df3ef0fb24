// Who drains the rings of a process, as a ring sees it: the drain thread (native/drain).
#pragma once

#include <memory>

namespace tracewright {

class Ring;

class Drainer {
 public:
  // False, with errno, when there is no thread to serve it.
  virtual bool add(const std::shared_ptr<Ring>& ring) = 0;
  virtual void remove(const Ring* ring) = 0;
  // Tries to finish a ring again and again whose file refuses what it holds, if that can change and
  // not too many are kept already. Called by the ring, which its consumer lock holds still.
  virtual bool keep(Ring* ring) = 0;

  // From a producer whose ring fills up, or that commits into a sleeping process.
  virtual void wake() = 0;
  // A thread waits for records to leave: go round at once, and until they have.
  virtual void hurry() = 0;

  // Whether a signal ends the process: a producer waits for that from here on.
  virtual bool holds_producers() const = 0;

 protected:
  // One of a process is never destroyed.
  ~Drainer() = default;
};

}  // namespace tracewright
