// Stamps of records that say when a call began and when it ended, by up to two clocks. Each time is
// u16 seconds and u32 nanoseconds, big-endian, since a bias of whole seconds.
//
// 16 bits of seconds last for 65,536 s, a turn. The first record of a new turn gets records of a
// preface in front of it, an entry and an exit for each clock, which lead readers into that turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "clock/clock.h"
#include "ring/big_endian_words.h"

namespace tracewright {

// A clock of a record.
struct IntervalClock {
  int32_t offset = -1;  // of the start in a record, which the stop follows; -1: not recorded
  int64_t bias = 0;     // in seconds
  std::string preface;  // an entry and an exit of equal length, without times and counters
};

struct IntervalOptions {
  IntervalClock wall;
  IntervalClock cpu;
  bool thread_cpu = false;       // CPU time of the thread rather than of the process
  int32_t counters_offset = -1;  // u8 count, then i64 at the start and i64 at the stop for each
};

// The stamp area of the control page, in nanoseconds since a clock's bias. The writer stores the
// starts before it commits, and reads the rest.
struct IntervalArea {
  double wall_start;  // negative: the call starts when it stops
  double cpu_start;
  double wall_turn;  // when the turn began
  double cpu_turn;
  double cpu_now;      // set by read_stamp
  double preface;      // set by a commit that put a preface in front: 1; 2: it was out of room
  double moved_start;  // set by such a commit: it moved a start by so many seconds, rounded up
};

class IntervalStamp {
 public:
  static constexpr uint64_t kSecond = 1000000000u;
  static constexpr uint64_t kTurn = uint64_t{65536} * kSecond;

  void open(const IntervalOptions& options, IntervalArea* area);

  // Stores the times of a record. False when a clock has begun a new turn: the record must wait
  // until the prefaces are written.
  bool put(uint8_t* record, uint64_t wall) {
    uint64_t cpu = 0;
    if (__builtin_expect(cpu_offset_ >= 0, 0)) {
      cpu = cpu_now();
      if (wall >= wall_.limit || cpu >= cpu_.limit) return begin_turn(wall, cpu);
      put_times(record + cpu_offset_, area_->cpu_start, cpu);
      cpu_.last = cpu;
    } else if (__builtin_expect(wall >= wall_.limit, 0)) {
      return begin_turn(wall, cpu);
    }
    wall_.last = wall;
    if (wall_offset_ >= 0) put_times(record + wall_offset_, area_->wall_start, wall);
    return true;
  }

  // The same for a record that had a preface: a start that lies too far back to be stored is moved.
  bool put_after_preface(uint8_t* record, uint64_t wall);

  // Bytes of the preface that comes next; 0: none.
  size_t preface_bytes() const;
  // Writes that preface, in front of `record`.
  void write_preface(uint8_t* to, const uint8_t* record);
  // Says in the stamp area how it went.
  void note_preface(bool complete) { area_->preface = complete ? 1 : 2; }

  void read() {
    if (cpu_offset_ >= 0) area_->cpu_now = static_cast<double>(cpu_now());
  }

 private:
  struct Turn {
    uint64_t limit = UINT64_MAX;  // where the turn ends
    uint64_t last = 0;            // stop of the last record
    bool due = false;             // its preface is to be written
    std::string preface;

    // Of the last record, since the turn began.
    uint64_t within() const { return last - (limit - kTurn); }
  };

  uint64_t cpu_now() const { return Clock::cpu(thread_cpu_) - cpu_epoch_; }
  bool begin_turn(uint64_t wall, uint64_t cpu);
  void move_start(double* start, double turn, uint64_t stop);
  void write_half(uint8_t* to, const Turn& turn, size_t from, const uint8_t* record) const;

  // A time as a record has it: u16 seconds and u32 nanoseconds, big-endian.
  struct EncodedTime {
    uint16_t seconds;
    uint32_t rest;

    explicit EncodedTime(uint64_t ns) {
      const uint64_t whole = ns / kSecond;
      seconds = big_endian(static_cast<uint16_t>(whole));
      rest = big_endian(static_cast<uint32_t>(ns - whole * kSecond));
    }

    void put(uint8_t* place) const {
      std::memcpy(place, &seconds, sizeof seconds);
      std::memcpy(place + sizeof seconds, &rest, sizeof rest);
    }
  };

  static void put_times(uint8_t* place, double start, uint64_t stop) {
    const EncodedTime end(stop);
    end.put(place + kTimeBytes);
    // A copy of the bytes would wait for both stores above.
    if (start < 0) {
      end.put(place);
    } else {
      // By way of a signed number, which one instruction converts.
      EncodedTime(static_cast<uint64_t>(static_cast<int64_t>(start))).put(place);
    }
  }

  static constexpr size_t kTimeBytes = 6;

  // Read by every commit.
  IntervalArea* area_ = nullptr;
  int32_t wall_offset_ = -1;
  int32_t cpu_offset_ = -1;
  uint64_t cpu_epoch_ = 0;
  bool thread_cpu_ = false;
  int32_t counters_offset_ = -1;
  Turn wall_;
  Turn cpu_;
};

}  // namespace tracewright
