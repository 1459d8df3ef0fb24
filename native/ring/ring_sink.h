// What a ring feeds, as the ring and the drain thread see it. native/sink has them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "file/failure.h"
#include "ring/open_records.h"

namespace tracewright {

class Ring;
struct RingOptions;

class RingSink {
 public:
  virtual ~RingSink() = default;

  // ---- Under the ring's consumer lock ----

  // Moves the committed records up to position `to` (a record boundary) and releases them. False
  // when something remains in the ring.
  virtual bool drain(Ring& ring, uint64_t to) = 0;
  // Writes bytes that never were in the ring after all that was; the caller has charged the budget
  // with them. Files only.
  virtual bool append(Ring& ring, const uint8_t* head, size_t head_bytes, const uint8_t* body,
                      size_t body_bytes, Failure* failure) = 0;
  // Writes the records that were open when the ring's stream ended at position `end`, to which it
  // is drained. A call that follows one in vain goes on with it. Files that rings share only.
  virtual bool append_open(Ring&, uint64_t /*end*/, const OpenRecords::Closed&) { return false; }
  // Called now and then: the ring goes along with a target that has gone on to its next piece.
  virtual void follow(Ring&) {}
  // The ring is finished; what it still holds stays where it is.
  virtual void leave(Ring&) {}
  // The same, and what it held and has turned away is counted.
  virtual void retire(Ring& ring) = 0;

  // ---- The ring's life ----

  // Says where a ring that is about to be opened, and its target, lie.
  virtual void locate(RingOptions*) {}
  // A sink is held once for each ring that feeds it or is about to; the last one to let go shuts
  // it, whenever the garbage collector gets round to freeing it.
  virtual void hold() = 0;
  virtual void let_go() = 0;
  // How many of those that hold it are finished rings that are kept.
  virtual void count_kept(int more) = 0;
  // Whether the path of a file that one ring feeds still names that file. If it was
  // removed, another trace may lie there.
  virtual bool in_place() const { return true; }
  // Whether what the target refuses now may find room later, and with it the end of the stream.
  virtual bool may_take_more() const { return false; }
  // Records that were committed and are never handed over.
  virtual void count_lost(uint64_t records) = 0;

  // ---- The budget ----

  // Nothing more is taken, for good.
  virtual bool spent() const = 0;
  virtual void reserve(uint64_t bytes) = 0;
  // Charges what goes past the rings, if it fits in addition to what these can still bring.
  virtual bool admit(uint64_t bytes, Failure* failure) = 0;
  virtual void give_back(uint64_t bytes) = 0;
  virtual void charge(uint64_t bytes) = 0;

  // ---- The state of the target ----

  // Draining waits for another machine: no producing thread may do it itself.
  virtual bool slow() const { return false; }
  // Of a slow one: it is waited for as long as its other end is there, as a blocking write is.
  virtual bool patient() const { return false; }
  // It takes nothing any more, for good.
  virtual bool gone() const { return false; }
  // The last attempt failed: nobody should wait for room.
  virtual bool failing() const = 0;
  // Why it takes nothing now.
  virtual Failure refusal() const = 0;

  // ---- For the drain thread ----

  // Work that is due whether or not there are records: connecting, repeating the preamble.
  virtual void tick(uint64_t /*now*/) {}
  // A descriptor to poll, and for what; -1: none.
  virtual int poll_descriptor(short* /*events*/) { return -1; }
  // Whether it has to come back soon although no producer wakes it.
  virtual bool restless() { return false; }
};

}  // namespace tracewright
