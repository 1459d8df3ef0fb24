// What the thread that writes knows of its groups of waiting records: where the records of each
// lie, in slots of open records or in the ring, and how long those took that were let go.
// JavaScript decides what becomes of a group: src/spans/keep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ring/remembered_groups.h"
#include "ring/waiting_records.h"

namespace tracewright {

// Of the records of one kind that were let go: how many, nanoseconds of all together, and how many
// had failed.
struct WaitingCounts {
  static constexpr uint32_t kBucketBits = 5;  // of an octave: a bucket is 1/32 of it
  static constexpr uint32_t kBuckets = (48 << kBucketBits) + 1;
  static constexpr size_t kBytes = 32 + size_t{kBuckets} * sizeof(int32_t);

  double count;
  double time;
  double errors;
  double limit;  // the longest that is usual, of what a group begins with
  int32_t buckets[kBuckets];

  void add(double ns) {
    count += 1;
    time += ns;
    ++buckets[bucket_of(ns)];
  }

  // One that was counted is not let go.
  void take_back(double ns, bool failed) {
    count -= 1;
    time -= ns;
    if (failed) errors -= 1;
    --buckets[bucket_of(ns)];
  }

  // By the exponent of a double and the first bits after it, as JavaScript does. 0: less than 1 ns.
  static uint32_t bucket_of(double ns) {
    uint64_t bits = 0;
    std::memcpy(&bits, &ns, sizeof bits);
    constexpr uint64_t kOne = 1023 << kBucketBits;
    const uint64_t position = bits >> (52 - kBucketBits);
    if (position < kOne) return 0;
    return static_cast<uint32_t>(std::min<uint64_t>(position - kOne + 1, kBuckets - 1));
  }
};

// What JavaScript and native code have in common, as long as JavaScript calls. Its words and times
// are what a call is about, and what came of it.
struct WaitingShared {
  // Where an open record lies in the table, its final word, and its kind; 0: that of its writer.
  // The words of a group, and its number. Why a group was kept that was decided. Groups are chosen
  // from `kChosenFrom` on, by bits of their first word.
  enum Word { kSlot, kWord, kKind, kHigh, kLow, kGroup, kReason, kChosenFrom, kWords };
  // What becomes of `kSlot` or `kGroup` if the call has done all: the record waits, or is let go.
  static constexpr int32_t kDone = -1;
  // What becomes of `kGroup` if there is no number for another one, and if it has grown so long
  // that it must be decided.
  static constexpr int32_t kFull = -2;
  static constexpr int32_t kLong = -3;
  // From when on no release is usual, how long the last one took, and when a group was kept.
  enum Time { kUntil, kDuration, kDecided, kTimes };

  int32_t* words = nullptr;
  double* times = nullptr;
  // Of each group: what is not usual, and how many records are open that it begins with.
  int32_t* flags = nullptr;
  int32_t* roots = nullptr;
  int32_t* free_slots = nullptr;
};

// What JavaScript's records have where, and what it means.
struct WaitingFormat {
  // Flags of a group about which there is nothing to decide any more.
  int32_t decided = 0;
  // Where a record has what: u32, u64, and u16 bytes of its name, big-endian.
  uint32_t link_at = 0;
  uint32_t start_at = 0;
  uint32_t name_at = 0;
  uint32_t word_after_name = 0;
  uint32_t reason_after_name = 0;  // two bytes
  uint32_t failed_bit = 0;         // of the word
  uint32_t chosen_mask = 0;
  // Bits of the word: records of one writer that differ in them are counted apart.
  uint32_t variant_shift = 0;
  // A record that begins so many nanoseconds after its group was decided is no part of it.
  int64_t late = 0;
};

class WaitingIndex {
 public:
  // Where the records of a group lie. Positions are low halves.
  struct Waits {
    uint32_t next = 0;     // group in its chain
    uint32_t records = 0;  // in the ring, of which each has the position of the one before it
    uint32_t first = 0;
    uint32_t last = 0;
    uint32_t ended = 0;  // the slot of the record that has ended last, of those in slots; 0: none
    uint32_t bytes = 0;  // of all
    bool moved = false;  // the ring would have been full otherwise
  };

  WaitingIndex(const WaitingShared& all, const WaitingFormat& form, WaitingGroup* words,
               uint32_t count, size_t capacity);

  // The group with these words; 0: there is none.
  uint32_t find(uint32_t high, uint32_t low) const {
    uint32_t group = buckets_[low & bucket_mask_];
    while (group != 0 && (groups[group].low != low || groups[group].high != high)) {
      group = waits_[group].next;
    }
    return group;
  }
  // Begins a group, whose records lie from `from` on; 0: there is no number for it.
  uint32_t begin(uint32_t high, uint32_t low, uint32_t from);
  // It was decided at `time`. None of its records waits any longer.
  void forget(uint32_t group, uint16_t reason, uint64_t time);

  Waits& of(uint32_t group) { return waits_[group]; }
  // Groups from here on were never used.
  uint32_t unused() const { return unused_; }
  // The last record of the ring, of `bytes` bytes from `at` on, is of a group and a kind.
  void append(uint32_t group, uint32_t at, uint32_t bytes, uint32_t kind);
  // The kind of the record at a position.
  uint16_t& mark(uint32_t at) { return marks_[(at & ring_mask_) >> kRecordBits]; }

  WaitingCounts* counts_of(uint32_t kind) const {
    return kind < kMostKinds ? counts_[kind] : nullptr;
  }
  bool count_in(uint32_t kind, WaitingCounts* counts) {
    if (kind < kMostKinds) counts_[kind] = counts;
    return kind < kMostKinds;
  }
  // Of the records that a writer of open ones begins, those that a group begins with or others; 0:
  // it is not known.
  uint32_t kind_of(uint32_t writer, uint32_t word, bool is_root) const {
    return writer < kMostWriters ? kinds_[kind_at(writer, word, is_root)] : 0;
  }
  void learn(uint32_t writer, uint32_t word, bool is_root, uint32_t kind) {
    if (writer == 0 || writer >= kMostWriters) return;
    kinds_[kind_at(writer, word, is_root)] = static_cast<uint16_t>(kind);
  }

  const WaitingShared shared;
  const WaitingFormat format;
  WaitingGroup* const groups;
  // The position of the next record that belongs to no group yet.
  uint32_t linked = 0;
  RememberedGroups kept{kKeptSets};
  // A thread releases more than it keeps.
  RememberedGroups released{2 * kKeptSets};

  static constexpr uint32_t kMostKinds = 2048;

 private:
  static constexpr uint32_t kKeptSets = 1 << 11;
  // Each record is longer than this power of two, so that those of a ring have a number each.
  static constexpr uint32_t kRecordBits = 6;
  static constexpr uint32_t kMostWriters = 1 << 12;
  static constexpr uint32_t kVariantBits = 3;

  size_t kind_at(uint32_t writer, uint32_t word, bool is_root) const {
    const uint32_t variant = (word >> format.variant_shift) & ((1 << kVariantBits) - 1);
    return ((size_t{is_root} * kMostWriters + writer) << kVariantBits) + variant;
  }

  // Groups that are free, and those with the same low bits of the second word, are chains.
  uint32_t free_ = 0;
  uint32_t unused_ = 1;
  const uint32_t bucket_mask_;
  const uint32_t ring_mask_;
  std::vector<uint32_t> buckets_;
  std::vector<Waits> waits_;
  std::vector<uint16_t> marks_;
  std::vector<uint16_t> kinds_;
  std::vector<WaitingCounts*> counts_;
};

}  // namespace tracewright
