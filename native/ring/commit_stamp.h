// What a commit does about the clock. A ring has one kind of stamp for all of its records.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "clock/clock.h"
#include "ring/big_endian_words.h"
#include "ring/control_page.h"
#include "ring/interval_stamp.h"

namespace tracewright {

enum class Stamp {
  none,      // the record carries its own, or needs none
  native,    // u64 in the machine's byte order, CLOCK_MONOTONIC
  big,       // u64 big-endian, since the ring's epoch
  interval,  // when a call began and ended: interval_stamp.h
};
// Tables are in the order of Stamp.
constexpr size_t kStamps = 4;

struct StampOptions {
  Stamp stamp = Stamp::native;
  uint32_t stamp_offset = 0;  // of a record's u64
  uint64_t epoch = 0;         // ns of CLOCK_MONOTONIC, subtracted from `big` stamps
  bool kernel_clock = false;  // never the scaled TSC
  IntervalOptions interval;
};

class CommitStamp {
 public:
  void open(const StampOptions& options, ControlPage* control) {
    control_ = control;
    kind_ = options.stamp;
    offset_ = options.stamp_offset;
    kernel_clock_ = options.kernel_clock;
    epoch_ = options.epoch;
    uint64_t earliest = epoch_;
    if (kind_ == Stamp::interval) {
      static_assert(sizeof(IntervalArea) <= sizeof control->stamp_area);
      interval_.open(options.interval, reinterpret_cast<IntervalArea*>(control->stamp_area));
      // A bias may lie before the clock's zero: this wraps, and so do the differences to it.
      epoch_ = static_cast<uint64_t>(options.interval.wall.bias) * IntervalStamp::kSecond;
      earliest = 0;
    }
    control->stamp_offset = offset_;
    control->stamp_kind = static_cast<uint32_t>(kind_);
    control->epoch = options.epoch;
    control->last_stamp.store(earliest, std::memory_order_relaxed);
  }

  uint32_t offset() const { return offset_; }

  uint64_t now() const { return kernel_clock_ ? Clock::monotonic() : clock_->now(); }

  // Not a stamp of the stream yet: a record that its caller has stamped may still come before it.
  uint64_t not_before_last() const {
    const uint64_t ns = now();
    const uint64_t last = control_->last_stamp.load(std::memory_order_relaxed);
    return ns < last ? last : ns;
  }

  // The time of the next stamp, without a call. False if only the kernel knows it.
  template <Stamp kStamp>
  [[gnu::always_inline]] bool take_time_fast(uint64_t* ns) {
    if constexpr (kStamp == Stamp::none) return true;
    if (__builtin_expect(kernel_clock_ || !clock_->read_scaled(ns), 0)) return false;
    *ns = in_order(*ns);
    return true;
  }

  // Stores a time that was taken. False when records of a preface must come before the record.
  template <Stamp kStamp>
  bool put_time(uint8_t* record, uint64_t ns) {
    if constexpr (kStamp == Stamp::interval) return interval_.put(record, ns - epoch_);
    if constexpr (kStamp == Stamp::big) ns = big_endian(ns - epoch_);
    if constexpr (kStamp != Stamp::none) std::memcpy(record + offset_, &ns, sizeof ns);
    return true;
  }

  // Stamps a record. False when records of a preface must come before it.
  template <Stamp kStamp>
  bool put(uint8_t* record) {
    return kStamp == Stamp::none || put_time<kStamp>(record, in_order(now()));
  }

  // The same for the kind that the ring was opened with.
  bool put(uint8_t* record) {
    switch (kind_) {
      case Stamp::native:
        return put<Stamp::native>(record);
      case Stamp::big:
        return put<Stamp::big>(record);
      case Stamp::interval:
        return put<Stamp::interval>(record);
      default:
        return true;
    }
  }

  // Stamps a record of `length` bytes that no commit will stamp, unless it has a later stamp
  // already.
  void raise(uint8_t* record, size_t length, uint64_t ns) const {
    if (offset_ + sizeof ns > length) return;
    const bool swaps = kind_ == Stamp::big;
    if (swaps) {
      ns -= std::min(ns, epoch_);
    } else if (kind_ != Stamp::native) {
      return;
    }
    uint64_t stamped = of(record);
    if (swaps) stamped = big_endian(stamped);
    if (stamped >= ns) return;
    if (swaps) ns = big_endian(ns);
    std::memcpy(record + offset_, &ns, sizeof ns);
  }

  // The time since the epoch of the next stamp.
  template <Stamp kStamp>
  [[gnu::always_inline]] uint64_t take() {
    uint64_t ns = 0;
    if (__builtin_expect(!take_time_fast<kStamp>(&ns), 0)) ns = take_slowly();
    return ns - epoch_;
  }

  // Puts the time since the epoch into `control.stamp`.
  template <Stamp kStamp>
  void read() {
    uint64_t ns = 0;
    if (kStamp == Stamp::none || !take_time_fast<kStamp>(&ns)) ns = in_order(now());
    ns -= epoch_;
    // Rounded down, so that a start never lies after its end once ns no longer fit a double.
    constexpr uint64_t kInexact = uint64_t{1} << 53;
    if (__builtin_expect(ns >= kInexact, 0)) {
      while (static_cast<uint64_t>(static_cast<double>(ns)) > ns) --ns;
    }
    // A conversion of a signed number takes one instruction.
    control_->stamp = static_cast<double>(static_cast<int64_t>(ns));
    if constexpr (kStamp == Stamp::interval) interval_.read();
  }

  // ---- Prefaces: what goes before a record whose stamp was refused ----

  // Bytes of the one that comes next; 0: none.
  size_t preface_bytes() const { return interval_.preface_bytes(); }
  void write_preface(uint8_t* to, const uint8_t* record) { interval_.write_preface(to, record); }
  // As put(), which may find that yet another preface is needed.
  bool put_after_preface(uint8_t* record) {
    return interval_.put_after_preface(record, in_order(now()) - epoch_);
  }
  // Reports to the writer that its record had one, or that there was no room.
  void note_preface(bool complete) { interval_.note_preface(complete); }

  // ---- Stamps by the writer ----

  // The clock of a record, u64 in the machine's byte order.
  uint64_t of(const uint8_t* record) const {
    uint64_t ns;
    std::memcpy(&ns, record + offset_, sizeof ns);
    return ns;
  }
  bool is_in_order(uint64_t ns) const {
    return ns >= control_->last_stamp.load(std::memory_order_relaxed);
  }
  void note_latest(uint64_t ns) {
    if (is_in_order(ns)) control_->last_stamp.store(ns, std::memory_order_relaxed);
  }

 private:
  [[gnu::noinline, gnu::cold]] uint64_t take_slowly() { return in_order(now()); }

  // The time of the next stamp, which lies at or after the last one.
  [[gnu::always_inline]] uint64_t in_order(uint64_t ns) {
    const uint64_t last = control_->last_stamp.load(std::memory_order_relaxed);
    if (__builtin_expect(ns < last, 0)) return last;
    control_->last_stamp.store(ns, std::memory_order_relaxed);
    return ns;
  }

  ControlPage* control_ = nullptr;
  const Clock* clock_ = &Clock::instance();
  uint64_t epoch_ = 0;
  uint32_t offset_ = 0;
  bool kernel_clock_ = false;
  Stamp kind_ = Stamp::none;
  IntervalStamp interval_;
};

}  // namespace tracewright
