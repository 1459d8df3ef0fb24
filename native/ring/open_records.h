// What a thread has begun and not ended: a table in the ring's mapping, after the control page.
// Each place of it holds a whole record in the bytes that the trace gets if nobody ends it
// properly. No place knows what its record means.
//
// JavaScript takes and frees places without a call. What it stores, in this order, is all that a
// reader goes by; a kill keeps the order, because each store of a thread that has retired is in the
// mapping:
//
//   take:  open_records + 1; the bytes; `state` last
//   grow:  bytes after the record; then `state` with the new length. The length that the record has
//          in its own bytes is written where it becomes final, by process or recovery
//   end:   `mark`, then kCommitting in `state`; the commit of the final record; `state` = 0.
//          Ring::commit_open() makes the final record of the open one
//   wait:  its stamp, then kEnded in `state`, and its final word last. It ends otherwise later
//
// So a record that was being written is not there yet. The head says whether the final record of
// one that was being ended is committed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ring/big_endian_words.h"
#include "ring/commit_stamp.h"
#include "ring/control_page.h"

namespace tracewright {

struct OpenRecordOptions {
  uint32_t places = 0;   // at the start; 0: no table
  uint32_t most = 0;     // to which it may grow; no more than `places`: it stays as it is
  uint32_t longest = 0;  // bytes of the longest record
  int32_t number_at =
      -1;  // where a record has its series and its number, two u32 big-endian; -1: it has none
  uint32_t length_at = 0;  // where a record has its length, u32 big-endian; 0: nowhere
};

// The head of a place; the record's bytes follow.
struct OpenRecord {
  static constexpr uint32_t kLength = 0x1ffff;      // of `state`: bytes of the record; 0: free
  static constexpr uint32_t kCommitting = 0x20000;  // its final record is the next to be committed
  static constexpr uint32_t kEnded = 0x40000;       // it has its stamp, and waits for a decision
  // The rest of `state` differs from one record of a place to the next.

  std::atomic<uint32_t> state;
  // Low half of the head before its final record. Of one that has ended: which slot follows.
  std::atomic<uint32_t> mark;
  std::atomic<uint32_t> closing;  // 1: in its final bytes, and on the way to the target
  uint32_t writer;                // JavaScript's: which of its functions wrote the bytes
};
static_assert(sizeof(OpenRecord) == 16, "JavaScript goes by it");
static_assert(offsetof(OpenRecord, writer) == sizeof(OpenRecord) - 4, "JavaScript goes by it");

class OpenRecords {
 public:
  static constexpr uint32_t kMostPlaces = (1 << 16) + 1;
  static constexpr uint32_t kLongest = 1 << 16;

  // Bytes of a place, of the table with so many of them, and of the largest table.
  static uint32_t stride(const OpenRecordOptions& options);
  static size_t bytes(const OpenRecordOptions& options, uint32_t places);
  static size_t most_bytes(const OpenRecordOptions& options);

  // `first` is where the table lies, all zeros.
  void open(const OpenRecordOptions& options, ControlPage* control, uint8_t* first);

  // The table of another ring, for records that get no number yet.
  void share(const OpenRecords& other);

  bool exist() const { return options_.places > 0; }
  uint32_t places() const { return places_.load(std::memory_order_acquire); }
  // Whether a place is taken.
  bool any() const { return exist() && control_->open_records.load(std::memory_order_relaxed) > 0; }

  // ---- Producing thread only ----

  // Copies what `copied_from` names to the record that the thread begins, once.
  void put_copied();
  // Puts the bytes of the record that the thread ends to `to`, with the next number and
  // the final word. Its own number is not the last that was given: a kill could find it here.
  void put_ended(uint8_t* to, size_t bytes);
  // Gives a record at the head the next number, or that after `before` others.
  void put_number(uint8_t* to, uint32_t before) const;
  // The next one is `count` later.
  void take_numbers(uint32_t count);
  // Writes the length of a record into it.
  void put_length(uint8_t* to, size_t bytes) const {
    const size_t at = options_.length_at;
    if (at != 0 && at + 4 <= bytes) put_big_endian(to + at, static_cast<uint32_t>(bytes));
  }

  // The head of the record at `at`, in bytes from the start of the table.
  OpenRecord* head_at(uint32_t at) const { return reinterpret_cast<OpenRecord*>(first_ + at) - 1; }

  // How many places the table has once it has grown; as many as now: it grows no more.
  uint32_t next_places() const;
  // It has so many from here on: their bytes are there, all zeros.
  void grow(uint32_t places);

  // ---- For the drain thread ----

  // Notes that the process was alive at `ns`.
  void beat(uint64_t ns) { control_->alive_at.store(ns, std::memory_order_relaxed); }
  // Asks the producing thread for a call before it takes or frees another place.
  void ask_for_call(bool wanted) {
    if (exist()) control_->attention.store(wanted ? 1 : 0, std::memory_order_relaxed);
  }

  // A record that its thread has prepared in a place of its own counts from here on: it began at
  // `ns`, and has `word` at `word_at`. Positions are JavaScript's, and are checked.
  void begin_prepared(uint32_t at, uint32_t state, uint32_t start_at, uint64_t ns, uint32_t word_at,
                      uint32_t word);
  void put_word(uint32_t at, uint32_t word_at, uint32_t word);
  // A text after the record, at `text_at`: u16 big-endian length, then as much of the text as has
  // room to the end of a line. A kill finds the record with one of the texts that it had, or
  // without one.
  void put_text(uint32_t at, uint32_t state, uint32_t text_at, std::string_view text);
  // It counts no longer.
  void free_prepared(uint32_t at);

  // ---- Once the stream has ended at `end`; no thread takes or frees places any more ----

  // Completes what is open in place: it ends at `ns`, unless it says that it ends later, and takes
  // the numbers after the last record's. `uncommitted` is what lies after that in the ring.
  void close(uint64_t end, uint64_t ns, const CommitStamp& stamp, const uint8_t* uncommitted);
  // The records that were completed.
  struct Closed {
    std::vector<uint8_t> bytes;
    uint64_t records = 0;
  };
  Closed closed() const;
  // Records that have waited come before those: they are numbered by `close`, too.
  void add_waiting(uint8_t* record, size_t bytes);
  // The record that was published last where records wait: its slot may not be free yet.
  void set_last_waiting(uint8_t* record, size_t bytes) { last_waiting_ = {record, bytes}; }
  // They are in the target.
  void discard_closed();

 private:
  OpenRecord& place(uint32_t index) const {
    return *reinterpret_cast<OpenRecord*>(first_ + size_t{index} * stride_);
  }
  uint32_t length_of(uint32_t state) const;
  uint32_t number_waiting(uint32_t number);
  bool waits(const uint8_t* open, size_t length, size_t stamp_at) const;
  OpenRecord* prepared_at(uint32_t at) const;

  OpenRecordOptions options_;
  // As the control page has it.
  std::atomic<uint32_t> places_{0};
  ControlPage* control_ = nullptr;
  uint8_t* first_ = nullptr;
  uint32_t stride_ = 0;
  struct Waiting {
    uint8_t* record;
    size_t bytes;
  };
  std::vector<Waiting> waiting_;
  Waiting last_waiting_ = {nullptr, 0};
};

}  // namespace tracewright
