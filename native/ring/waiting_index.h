// What the thread that writes knows of its groups of waiting records: where the records of each
// lie, in slots of open records or in the ring, and how long those took that were let go.
// JavaScript lays it out in arrays of its own, and can do all of it by itself: src/spans/keep. What
// is usual is done here, in a fifth of the instructions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

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

struct WaitingIndex {
  // What a call is about, by its number in `call`: where the record lies in the table of open
  // records, its final word, and its kind; 0: that of its writer. A copy says in
  // `kCount` how many records it were. Groups are chosen from `kChosenFrom` on, by bits of their
  // first word.
  enum Call { kSlot, kWord, kKind, kCount, kChosenFrom, kCalls };
  // What becomes of `kSlot` if the call has done all: the record waits in its slot or is let go.
  static constexpr int32_t kDone = -1;
  // In `times`: from when on no release is usual, and how long the last one was.
  enum Time { kUntil, kDuration, kTimes };
  int32_t* call = nullptr;
  double* times = nullptr;
  // Chains of groups, by the low bits of the second word: its first one, and the next of each.
  int32_t* buckets = nullptr;
  uint32_t bucket_mask = 0;
  int32_t* nexts = nullptr;
  // Of each group. Flags: what is not usual.
  int32_t* flags = nullptr;
  int32_t* roots = nullptr;
  int32_t* shared = nullptr;
  int32_t* records = nullptr;
  int32_t* bytes = nullptr;
  int32_t* firsts = nullptr;
  int32_t* lasts = nullptr;
  // The slot of its record that has ended last, of those that wait in slots; 0: none does.
  int32_t* ended = nullptr;
  // The group that is free, and from which on none was ever used.
  int32_t* numbers = nullptr;
  int32_t* linked = nullptr;
  // The kind of each waiting record, by its position; and by the writer of an open one, of those
  // that wait and of those that end a group.
  uint16_t* marks = nullptr;
  uint16_t* kinds = nullptr;
  uint16_t* root_kinds = nullptr;
  uint32_t kind_count = 0;
  int32_t* free_slots = nullptr;
  // The groups that were released last, in sets by the low bits of the second word. Of each its
  // words, and when that was: nanoseconds in units of two to the power of `kReleasedUnitBits`, from
  // 1 on.
  static constexpr uint32_t kReleasedWords = 3;
  static constexpr uint32_t kReleasedUnitBits = 24;
  int32_t* released = nullptr;
  uint8_t* oldest = nullptr;
  uint32_t set_mask = 0;
  uint32_t of_a_set = 0;

  uint32_t record_shift = 0;
  // Flags of a group about which there is nothing to decide any more.
  int32_t decided = 0;
  int32_t longest = 0;
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

  // By the number of their kind.
  static constexpr uint32_t kMostKinds = 2048;
  WaitingCounts* counts[kMostKinds] = {};

  WaitingCounts* counts_of(uint32_t kind) const {
    return kind < kMostKinds ? counts[kind] : nullptr;
  }

  // Of the records that a writer of open ones begins; 0: it is not known.
  uint32_t kind_of(uint32_t writer, uint32_t word) const { return known_kind(kinds, writer, word); }
  uint32_t root_kind_of(uint32_t writer, uint32_t word) const {
    return known_kind(root_kinds, writer, word);
  }

 private:
  uint32_t known_kind(const uint16_t* of, uint32_t writer, uint32_t word) const {
    const uint32_t at = (writer << kVariantBits) + ((word >> variant_shift) & kVariantMask);
    return at < kind_count ? of[at] : 0;
  }

  static constexpr uint32_t kVariantBits = 3;
  static constexpr uint32_t kVariantMask = (1 << kVariantBits) - 1;
};

}  // namespace tracewright
