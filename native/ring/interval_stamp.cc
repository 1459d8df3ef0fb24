#include "ring/interval_stamp.h"

#include <algorithm>
#include <cmath>

namespace tracewright {

namespace {

// Readers that know no prefaces follow a clock as long as no step exceeds half a turn.
constexpr uint64_t kHalfTurn = IntervalStamp::kTurn / 2;
// A longer call looks like one that took a turn less: readers let clocks step back by a minute.
constexpr double kLongestCall = 65400e9;

}  // namespace

void IntervalStamp::open(const IntervalOptions& options, IntervalArea* area) {
  area_ = area;
  wall_offset_ = options.wall.offset;
  cpu_offset_ = options.cpu.offset;
  // A bias may lie before the clock's zero: this wraps, and so do the differences to it.
  cpu_epoch_ = static_cast<uint64_t>(options.cpu.bias) * kSecond;
  thread_cpu_ = options.thread_cpu;
  counters_offset_ = options.counters_offset;
  wall_.preface = options.wall.preface;
  cpu_.preface = options.cpu.preface;
  if (wall_offset_ >= 0) wall_.limit = kTurn;
  if (cpu_offset_ >= 0) cpu_.limit = kTurn;
}

bool IntervalStamp::begin_turn(uint64_t wall, uint64_t cpu) {
  wall_.due = wall >= wall_.limit;
  cpu_.due = cpu >= cpu_.limit;
  return false;
}

bool IntervalStamp::put_after_preface(uint8_t* record, uint64_t wall) {
  move_start(&area_->wall_start, area_->wall_turn, wall);
  if (cpu_offset_ >= 0) move_start(&area_->cpu_start, area_->cpu_turn, cpu_now());
  return put(record, wall);
}

void IntervalStamp::move_start(double* start, double turn, uint64_t stop) {
  const double earliest = static_cast<double>(stop) - kLongestCall;
  if (*start < 0 || *start >= turn || *start >= earliest) return;
  area_->moved_start = std::max(area_->moved_start, std::ceil((earliest - *start) / kSecond));
  *start = earliest;
}

size_t IntervalStamp::preface_bytes() const {
  return wall_.due ? wall_.preface.size() : cpu_.due ? cpu_.preface.size() : 0;
}

void IntervalStamp::write_preface(uint8_t* to, const uint8_t* record) {
  const bool of_wall = wall_.due;
  Turn& turn = of_wall ? wall_ : cpu_;
  const size_t half = turn.preface.size() / 2;
  // The entry is where the last record was, or half a turn later; the exit is where the turn ends.
  if (turn.within() < kHalfTurn) turn.last = turn.limit - kHalfTurn;
  write_half(to, turn, 0, record);
  turn.last = turn.limit;
  turn.limit += kTurn;
  turn.due = false;
  (of_wall ? area_->wall_turn : area_->cpu_turn) = static_cast<double>(turn.last);
  write_half(to + half, turn, half, record);
}

void IntervalStamp::write_half(uint8_t* to, const Turn& turn, size_t from,
                               const uint8_t* record) const {
  std::memcpy(to, turn.preface.data() + from, turn.preface.size() / 2);
  if (wall_offset_ >= 0) put_times(to + wall_offset_, -1, wall_.within());
  if (cpu_offset_ >= 0) put_times(to + cpu_offset_, -1, cpu_.within());
  if (counters_offset_ < 0) return;
  // The counters at the call's end, as start and as stop.
  const uint8_t* const readings = record + counters_offset_;
  uint8_t* const copies = to + counters_offset_;
  const size_t count = readings[0];
  copies[0] = readings[0];
  for (size_t i = 0; i < 2 * count; ++i) {
    std::memcpy(copies + 1 + 8 * i, readings + 1 + 8 * (i | 1), 8);
  }
}

}  // namespace tracewright
