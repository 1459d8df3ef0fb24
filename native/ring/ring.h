// A queue of whole records between one producing thread and whoever drains it, in a mapping that
// outlives the process when a file is behind it.
//
// The data region is mapped twice in a row, so that a record is contiguous wherever it begins. The
// producer is the JavaScript thread that opened the ring: it encodes a record in place and then
// calls commit(), which reads the clock and publishes. The consumer side (drain, finish) may run on
// any thread and is serialised by a lock; the producer takes that lock only when it is out of room.
#pragma once

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "clock/clock.h"
#include "file/failure.h"
#include "file/file_identity.h"
#include "ring/control_page.h"

namespace tracewright {

class DrainThread;
class Sink;
struct FilePiece;

enum class FullPolicy { block, drop };

// What commit() does about the clock.
enum class Stamp {
  none,    // the record carries its own, or needs none
  native,  // u64 in the machine's byte order, CLOCK_MONOTONIC
  big,     // u64 big-endian, since the ring's epoch
  // Start and stop of a call by up to two clocks, each u16 seconds and u32 nanoseconds, big-endian,
  // since a bias of whole seconds. The writer has stored the starts; kNoStart takes the stop.
  interval,
};

// In place of a start's nanoseconds.
constexpr uint32_t kNoStart = 0xffffffff;
// What u16 seconds can count.
constexpr uint64_t kIntervalTurnNs = uint64_t{65536} * 1000000000u;

struct RingOptions {
  std::string path;  // the ring's own file; empty: anonymous memory
  size_t capacity = 0;
  std::string format;
  std::string target;
  FileIdentity target_identity;  // chosen by the sink
  std::string finish_from;
  std::string finish_to;
  TargetKind target_kind = TargetKind::own_file;
  uint64_t base_offset = 0;
  uint32_t stamp_offset = 0;
  Stamp stamp = Stamp::native;
  uint64_t epoch = 0;         // ns of CLOCK_MONOTONIC, subtracted from `big` stamps
  bool kernel_clock = false;  // never the scaled TSC
  // For Stamp::interval: where a record holds the clocks (-1: nowhere), and their biases in
  // seconds.
  int32_t wall_offset = -1;
  int32_t cpu_offset = -1;
  int64_t wall_bias = 0;
  int64_t cpu_bias = 0;
  bool thread_cpu = false;       // cpu time of the thread rather than of the process
  bool remove_if_empty = false;  // a stream without records leaves no file behind
  int64_t length_offset = -1;    // where a record holds its own length, u32 big-endian; -1: nowhere
  FullPolicy full = FullPolicy::block;
  uint32_t block_limit_ms = 1000;  // how long `block` waits for a socket before it drops
};

// What rings hold and have turned away.
struct Backlog {
  uint64_t records = 0;
  uint64_t bytes = 0;
  double dropped = 0;
  double refused = 0;
};

class Ring {
 public:
  static std::shared_ptr<Ring> open(const RingOptions& options, std::shared_ptr<Sink> sink,
                                    Failure* failure);
  // Rings of this process are opened faster and take memory only as they fill; the first record in
  // each page then costs a page fault.
  static void map_pages_late();
  // A ring that is always closed, for commits that come too late: they change nothing.
  static Ring* closed_ring();
  // Locks the ring's file that is open as `fd` as long as it is mapped, and so exactly as long as
  // the process lives: who cannot see its pid, as from another container, sees that by the lock. A
  // file system without locks leaves the identity.
  static void hold(int fd);
  // Whether a process has the ring mapped whose file is open as `fd`.
  static bool is_held(int fd);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // ---- Producing thread only ----

  // Publishes the `pending` bytes that were encoded at the head.
  template <Stamp kStamp>
  void commit() {
    if constexpr (kStamp == Stamp::interval) {
      if (!stamp_interval(data_ + (head_ & mask_))) return;
    } else if constexpr (kStamp != Stamp::none) {
      stamp<kStamp>(data_ + (head_ & mask_) + stamp_offset_);
    }
    publish(static_cast<uint32_t>(control_->pending));
  }

  // Publishes records that were stamped by their writer, all or none: they are refused when the
  // clock of the first (u64 in the machine's byte order) lies before the last one of the ring.
  // `last_record` is where the last of them begins, in bytes behind the head.
  bool commit_explicit(uint32_t last_record);

  // Publishes records of Stamp::interval that were stamped by their writer and carry a clock over
  // the end of its seconds: the wall clock, the cpu clock, or both.
  void commit_turn(bool wall, bool cpu) {
    if (wall) wall_limit_ += kIntervalTurnNs;
    if (cpu) cpu_limit_ += kIntervalTurnNs;
    publish(static_cast<uint32_t>(control_->pending));
  }

  // Puts the time since the epoch into `control.stamp`.
  void read_stamp() {
    // Rounded down, so that a start never lies after its end once ns no longer fit a double.
    uint64_t ns = in_order() - epoch_;
    while (static_cast<uint64_t>(static_cast<double>(ns)) > ns) --ns;
    control_->stamp = static_cast<double>(ns);
  }

  // Puts `control.words` words at `control.words_at` as big-endian ones. They lie at the next
  // multiple of four bytes, in the machine's byte order, and take the place of what is between.
  void put_words();

  enum class Room : int64_t { closed = -1, full = -2 };
  // Free bytes, at least `bytes` of them, or a Room. Where it had to write or wait for them, it
  // sets stalled, stall_from and stall_to in the control page.
  int64_t make_room(uint32_t bytes);

  // A record that is larger than the ring: everything before it is written, then the record itself
  // (its head, which is stamped, and its body). File targets only.
  bool write_through(uint8_t* head, size_t head_bytes, const uint8_t* body, size_t body_bytes,
                     bool stamped, Failure* failure);

  // Writes what is committed, as make_room does, whatever the room.
  bool flush();

  uint64_t now() const { return kernel_clock_ ? Clock::monotonic() : clock_->now(); }

  // ---- Any thread ----

  // Moves what is committed to the target. False when something stayed behind.
  bool drain();
  // Takes the ring out of use, drains it, appends the epilogue and completes the trace on disk.
  // Where the file refuses that, the drain thread keeps the ring and calls again, until it is done
  // or the process ends. Afterwards a call does nothing.
  void finish(uint32_t socket_limit_ms);
  // Waits until everything that was committed before the call has left, or the time is over.
  bool wait_drained(uint64_t position, uint32_t limit_ms);

  // Keeps consumers away while the lock is held.
  std::unique_lock<std::mutex> hold_still() { return std::unique_lock<std::mutex>(consumer_); }
  // Adds what this ring holds and has turned away; nothing once its sink counts it. The caller has
  // it held still.
  void add_backlog(Backlog* backlog);
  // Whether a thread stands in wait_drained.
  bool awaited() const { return waiters_.load() != 0; }
  bool finished() const { return finished_.load(std::memory_order_acquire); }
  // Whether it is finished, but for what its file still refuses.
  bool kept() const { return kept_.load(std::memory_order_acquire); }

  ControlPage& control() { return *control_; }
  uint8_t* mapping() { return reinterpret_cast<uint8_t*>(control_); }
  size_t mapping_bytes() const { return control_bytes_ + 2 * capacity_; }
  size_t control_bytes() const { return control_bytes_; }
  size_t capacity() const { return capacity_; }
  const RingOptions& options() const { return options_; }
  const std::shared_ptr<Sink>& sink() const { return sink_; }
  // Where the ring's file was to lie before its target chose.
  const std::string& first_path() const { return first_path_; }

  // ---- For sinks, under the consumer lock ----

  const uint8_t* at(uint64_t position) const { return data_ + (position & mask_); }
  uint64_t head() const { return control_->head.load(std::memory_order_acquire); }
  uint64_t tail() const { return control_->tail.load(std::memory_order_relaxed); }
  void release(uint64_t position) { control_->tail.store(position, std::memory_order_release); }
  // Bytes of the record at `position`, from its own length field.
  uint32_t record_bytes(uint64_t position) const;
  // Records in [from, to), which begins and ends at a record boundary.
  uint64_t count_records(uint64_t from, uint64_t to) const;

  // Which of several files the ring feeds.
  const std::shared_ptr<FilePiece>& piece() const { return piece_; }
  void set_piece(std::shared_ptr<FilePiece> piece) { piece_ = std::move(piece); }
  // Moves the ring's file to where the rings of another target lie. False, with errno, when it
  // could not.
  bool move_to(const std::string& path, const std::string& target);
  // Notes which file the ring feeds from now on.
  void note_target(const FileIdentity& identity);
  // Lets the ring go along with its target.
  void follow();

  // For the drain thread: how far the producer may go before it wakes the thread.
  void wake_when_half_full() { set_wake_at(tail() + capacity_ / 2); }
  void wake_at_next_commit() { set_wake_at(tail()); }

 private:
  friend class DrainThread;
  Ring() = default;
  bool map(Failure* failure);
  void remove_stream();
  // Only its own: where its directory was removed and made again, the path is another ring's.
  void remove_file();

  uint64_t in_order() {
    uint64_t ns = now();
    const uint64_t last = control_->last_stamp.load(std::memory_order_relaxed);
    if (__builtin_expect(ns < last, 0)) return last;
    control_->last_stamp.store(ns, std::memory_order_relaxed);
    return ns;
  }

  template <Stamp kStamp>
  void stamp(uint8_t* place) {
    uint64_t ns = in_order();
    if constexpr (kStamp == Stamp::big) {
      ns -= epoch_;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
      ns = __builtin_bswap64(ns);
#endif
    }
    std::memcpy(place, &ns, sizeof ns);
  }

  // False when a clock has run over its seconds since the last record: `control.turned` says which,
  // and nothing may be published until the stream says so too.
  bool stamp_interval(uint8_t* record) {
    const uint64_t wall = in_order() - epoch_;
    if (__builtin_expect(cpu_offset_ >= 0, 0)) {
      const uint64_t cpu = Clock::cpu(thread_cpu_) - cpu_epoch_;
      if (wall >= wall_limit_ || cpu >= cpu_limit_) return turned(wall, cpu);
      put_stop(record + cpu_offset_, cpu);
    } else if (__builtin_expect(wall >= wall_limit_, 0)) {
      return turned(wall, 0);
    }
    if (wall_offset_ >= 0) put_stop(record + wall_offset_, wall);
    return true;
  }

  bool turned(uint64_t wall, uint64_t cpu) {
    control_->turned = (wall >= wall_limit_ ? 1 : 0) | (cpu >= cpu_limit_ ? 2 : 0);
    return false;
  }

  static void put_stop(uint8_t* start, uint64_t ns) {
    const uint64_t seconds = ns / 1000000000u;
    uint32_t rest = static_cast<uint32_t>(ns - seconds * 1000000000u);
    uint16_t low = static_cast<uint16_t>(seconds);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    rest = __builtin_bswap32(rest);
    low = __builtin_bswap16(low);
#endif
    uint32_t start_rest;
    std::memcpy(&start_rest, start + 2, sizeof start_rest);
    if (start_rest == kNoStart) {
      std::memcpy(start, &low, sizeof low);
      std::memcpy(start + 2, &rest, sizeof rest);
    }
    std::memcpy(start + 6, &low, sizeof low);
    std::memcpy(start + 8, &rest, sizeof rest);
  }

  void stamp_as_opened(uint8_t* record);

  void publish(uint32_t bytes) {
    head_ += bytes;
    control_->head.store(head_, std::memory_order_release);
    if (__builtin_expect(head_ >= control_->wake_at.load(std::memory_order_relaxed), 0)) wake();
  }

  void wake();
  void set_wake_at(uint64_t position) {
    control_->wake_at.store(position, std::memory_order_relaxed);
  }
  uint64_t free_bytes() const {
    return capacity_ - (head_ - control_->tail.load(std::memory_order_acquire));
  }
  // Not a stamp of the stream yet: a record that its caller has stamped may still come before it.
  uint64_t stall_begin() const {
    const uint64_t ns = now();
    const uint64_t last = control_->last_stamp.load(std::memory_order_relaxed);
    return ns < last ? last : ns;
  }
  void note_stall(uint64_t from);
  void lay_end();
  bool complete_stream();
  bool write_end();
  void notify_waiters();

  // Read by every commit.
  uint8_t* data_ = nullptr;
  ControlPage* control_ = nullptr;
  uint64_t head_ = 0;
  uint64_t mask_ = 0;
  const Clock* clock_ = &Clock::instance();
  uint64_t epoch_ = 0;
  uint32_t stamp_offset_ = 0;
  bool kernel_clock_ = false;
  bool thread_cpu_ = false;
  int32_t wall_offset_ = -1;
  int32_t cpu_offset_ = -1;
  uint64_t cpu_epoch_ = 0;
  // Where the seconds of a clock end, in ns since its epoch.
  uint64_t wall_limit_ = UINT64_MAX;
  uint64_t cpu_limit_ = UINT64_MAX;
  // Where the tail stood when a wait for a socket ran out.
  uint64_t waited_at_ = UINT64_MAX;

  size_t control_bytes_ = 0;
  size_t capacity_ = 0;
  RingOptions options_;
  std::string first_path_;
  FileIdentity identity_;  // of its file
  std::shared_ptr<FilePiece> piece_;
  std::shared_ptr<Sink> sink_;
  std::mutex consumer_;
  std::atomic<bool> finished_{false};
  // What is to be done once it is finished, under the consumer lock: to drain up to `end_`, and to
  // append `ending_`, whose records are stamped.
  uint64_t end_ = 0;
  Epilogue ending_{};
  std::atomic<bool> kept_{false};
  bool retired_ = false;  // nothing is left to do
  std::mutex waiters_lock_;
  std::condition_variable drained_;
  std::atomic<int> waiters_{0};
};

}  // namespace tracewright
