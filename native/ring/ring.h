// A queue of whole records between one producing thread and its consumers, in a mapping that
// outlives the process if it is of a file.
//
// The data region is mapped twice in a row, so that a record is contiguous wherever it begins. The
// producer is the JavaScript thread that opened the ring: it encodes a record in place and then
// calls commit(), which reads the clock and publishes. The consumer side (drain, finish) may run on
// any thread and is serialised by a lock; the producer takes that lock only when it is out of room.
#pragma once

#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "file/failure.h"
#include "file/file_identity.h"
#include "file/file_mode.h"
#include "ring/commit_stamp.h"
#include "ring/control_page.h"
#include "ring/open_records.h"
#include "ring/record_shape.h"
#include "ring/waiting_index.h"
#include "ring/waiting_records.h"

namespace tracewright {

class Drainer;
class RingSink;
struct FilePiece;

enum class FullPolicy { block, drop };

struct RingOptions : StampOptions {
  std::string path;  // the ring's own file; empty: anonymous memory
  size_t capacity = 0;
  std::string format;
  std::string target;
  FileIdentity target_identity;  // chosen by the sink
  std::string finish_from;
  std::string finish_to;
  // Where the metadata with which the stream ends is an entry of a list; empty: `finish_from` has
  // it.
  std::string end_list;
  std::string end_key;
  mode_t file_mode = kPrivateFile;
  TargetKind target_kind = TargetKind::own_file;
  uint64_t base_offset = 0;
  bool remove_if_empty = false;  // a stream without records leaves no file
  int64_t length_offset = -1;    // where a record holds its own length, u32 big-endian; -1: nowhere
  RecordShape shape;             // of a ring without that, as far as it is known
  FullPolicy full = FullPolicy::block;
  uint32_t block_limit_ms = 1000;  // how long `block` waits for a socket before it drops
  OpenRecordOptions open_records;  // of targets that rings share; no larger than the capacity
  size_t waiting_capacity = 0;     // of records that wait, a power of two; 0: none do
  uint32_t waiting_groups = 0;
  uint32_t group_at = 0;  // where a record has the eight bytes of its group
};

// What rings hold and have turned away.
struct Backlog {
  uint64_t records = 0;
  uint64_t bytes = 0;
  double dropped = 0;
  double refused = 0;
  double unkept = 0;  // open records that found no place
  uint64_t open = 0;  // open records that have one
};

// Aligned, so that a commit reads one cache line of it.
class alignas(64) Ring {
 public:
  static std::shared_ptr<Ring> open(const RingOptions& options, std::shared_ptr<RingSink> sink,
                                    Drainer& drainer, Failure* failure);
  // Where the records of `feeds` wait: a ring that no other thread looks at. Its producer moves the
  // tail. Null: they have no place.
  static std::shared_ptr<Ring> open_waiting(const std::shared_ptr<Ring>& feeds);
  // Rings of this process are opened faster and take memory only as they fill; the first record in
  // each page then costs a page fault.
  static void map_pages_late();
  // A ring that is always closed, for commits that come too late: they change nothing.
  static Ring* closed_ring();
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // ---- Producing thread only ----

  // Publishes the `pending` bytes that were encoded at the head. The usual case makes no call: it
  // needs no stack, and takes a third fewer instructions.
  template <Stamp kStamp>
  [[gnu::always_inline]] void commit() {
    uint64_t ns = 0;
    if (__builtin_expect(!stamp_.take_time_fast<kStamp>(&ns) ||
                             !stamp_.put_time<kStamp>(data_ + (head_ & mask_), ns),
                         0)) {
      commit_slowly<kStamp>();
    } else {
      if constexpr (kStamp == Stamp::interval) note_commits(1, control_->pending);
      publish(static_cast<uint32_t>(control_->pending));
    }
  }

  // Reads the stamp of an open record that begins, and copies to it what it has in common with
  // others.
  template <Stamp kStamp>
  void begin_open() {
    stamp_.read<kStamp>();
    open_.put_copied();
  }

  // Publishes the open record at `control.ending_at` as a final one.
  template <Stamp kStamp>
  void commit_open() {
    open_.put_ended(data_ + (head_ & mask_), static_cast<size_t>(control_->pending));
    commit<kStamp>();
  }

  // Publishes the `pending` bytes at the head as they are.
  void commit_as_is() { publish(static_cast<uint32_t>(control_->pending)); }

  // ---- Of a ring in which records wait, by what `index_waiting` was given ----

  void index_waiting(const WaitingShared& shared, const WaitingFormat& format);
  WaitingIndex* waiting_index() { return index_.get(); }
  // The number of the group that `shared` has the words of; and of one that begins.
  void find_waiting();
  void begin_waiting();
  // Has the open record in `shared` wait with its group, and counts it. It stays in its slot. If
  // the end is unusual, nothing has changed.
  void end_waiting();
  // Lets go of the group of the open record in `shared`, and of that. Unless that is unusual.
  void release_waiting();
  // Of which kind records are that are like the open one in a slot.
  void learn_waiting(uint32_t slot, uint32_t word, uint32_t kind, bool is_root);
  // The record that was committed last, if there is one, waits with the group in `shared`, and is
  // counted.
  void link_waiting();
  // Publishes what waits of a group in the ring that it waits for, with the next numbers and a
  // reason. 0: it is done, or else the bytes that find no room there.
  [[gnu::cold]] uint64_t copy_waiting(uint32_t group, uint16_t reason);
  // What waits in slots waits in the ring from here on. 0, or the bytes that find no room.
  [[gnu::cold]] uint64_t relieve_slots();
  // Lets go of what waits of a group.
  void drop_waiting(uint32_t group);
  // The same, of a group that was decided: for a reason, or 0 if nobody gets it.
  void forget_waiting(uint32_t group, uint16_t reason);
  // Whether no decision concerns a record that begins at `start`, of a group that does not wait.
  // `shared` gets when and why it was kept, or zeros.
  [[gnu::cold]] bool is_over(uint32_t high, uint32_t low, int64_t start);
  // Lets go of the oldest records, up to one that waits. 0: so many bytes are free, or none waits;
  // or else the group of that one.
  [[gnu::cold]] uint32_t reclaim_waiting(uint32_t bytes);
  // Has a group wait at the head. False: it is too large to wait longer.
  [[gnu::cold]] bool move_waiting(uint32_t group);

  // Publishes records that were stamped by their writer, all or none: they are refused when the
  // clock of the first (u64 in the machine's byte order) lies before the last one of the ring.
  // `last_record` is where the last of them begins, in bytes after the head. An `unordered` one is
  // never refused.
  bool commit_explicit(uint32_t last_record, bool unordered = false);

  // Puts the time since the epoch into `control.stamp`.
  template <Stamp kStamp>
  void read_stamp() {
    stamp_.read<kStamp>();
  }

  // Puts `control.words` words at `control.words_at` as big-endian ones. They lie at the next
  // multiple of four bytes, in the machine's byte order, and take the place of what is between.
  void put_words();

  enum class Room : int64_t { closed = -1, full = -2 };
  // Free bytes, at least `bytes` of them, or a Room. Where it had to write or wait for them, it
  // sets stalled, stall_from and stall_to in the control page.
  int64_t make_room(uint32_t bytes);

  // A record that is larger than the ring: everything before it is written, then the record itself
  // (its head, which is stamped, and its body). File targets only. A `stamped` one is refused as
  // commit_explicit() does, unless it is `unordered`.
  bool write_through(uint8_t* head, size_t head_bytes, const uint8_t* body, size_t body_bytes,
                     bool stamped, Failure* failure, bool unordered = false);

  // Writes what is committed, as make_room does, whatever the room.
  bool flush();

  // Lets the table of open records grow by a step, and returns how many places it has then. Where
  // the disk or the bound has no room it stays as it is.
  uint32_t grow_open_records();

  // A call that `control.attention` has asked for.
  void attend();

  uint64_t now() const { return stamp_.now(); }

  // Replaces pieces of the metadata with which the stream ends, which are in the order of their
  // keys; all of them, if `whole`. The end writes them if they are `due`, because JavaScript may
  // not.
  [[gnu::cold]] void set_end_metadata(std::map<double, std::string> pieces, bool whole, bool due);

  // ---- Any thread ----

  // Moves what is committed to the target. False when something remains.
  bool drain();
  // Takes the ring out of use, drains it, appends the epilogue and completes the trace on disk.
  // Where the file refuses that, the drain thread keeps the ring and calls again, until it is done
  // or the process ends. Afterwards a call does nothing.
  [[gnu::cold]] void finish(uint32_t socket_limit_ms);
  // Waits until everything that was committed before the call has left, or the time is over.
  bool wait_drained(uint64_t position, uint32_t limit_ms);
  static constexpr uint32_t kNoLimitMs = UINT32_MAX;

  // Keeps consumers away while the lock is held.
  std::unique_lock<std::mutex> hold_still() { return std::unique_lock<std::mutex>(consumer_); }
  // Adds what this ring holds and has turned away; nothing once its sink counts it. The caller has
  // it held still.
  void add_backlog(Backlog* backlog);
  // Whether a thread is in wait_drained.
  bool awaited() const { return waiters_.load() != 0; }
  bool finished() const { return finished_.load(std::memory_order_acquire); }
  // Whether it is finished, but for what its file still refuses.
  bool kept() const { return kept_.load(std::memory_order_acquire); }

  ControlPage& control() { return *control_; }
  uint8_t* mapping() { return reinterpret_cast<uint8_t*>(control_); }
  size_t mapping_bytes() const { return control_bytes_ + 2 * capacity_; }
  size_t waiting_bytes() const {
    return options_.waiting_capacity == 0
               ? 0
               : waiting_front(options_.waiting_groups) + options_.waiting_capacity;
  }
  size_t control_bytes() const { return control_bytes_; }
  bool waits() const { return feeds_ != nullptr; }
  size_t capacity() const { return capacity_; }
  const RingOptions& options() const { return options_; }
  const std::shared_ptr<RingSink>& sink() const { return sink_; }
  // Whether its file is there for recovery: its directory may have been deleted.
  bool has_file() const { return !options_.path.empty() && identity_.lies_at(options_.path); }
  // Records that were open when the stream ended, and that are not in the trace yet.
  uint64_t open_at_end() const { return open_.exist() ? open_.closed().records : 0; }
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

  // Records that are still in the ring. False: nothing tells how many.
  bool count_left(uint64_t* records) const;

  // Which of several files the ring feeds.
  const std::shared_ptr<FilePiece>& piece() const { return piece_; }
  void set_piece(std::shared_ptr<FilePiece> piece) { piece_ = std::move(piece); }
  // Moves the ring's file to where the rings of another target lie. False, with errno, when it
  // could not.
  bool move_to(const std::string& path, const std::string& target);
  // Has the producer make the ring's file again, when it next comes by, if it was deleted.
  void ask_for_file();
  // Notes which file the ring feeds from now on.
  void note_target(const FileIdentity& identity);
  // Lets the ring go along with its target.
  void follow();

  // For the drain thread: finish() is called again and again from here on.
  void note_kept() { kept_.store(true, std::memory_order_release); }
  // How far the producer may go before it wakes the thread.
  void wake_when_half_full() { set_wake_at(tail() + capacity_ / 2); }
  void wake_at_next_commit() { set_wake_at(tail()); }
  OpenRecords& open_records() { return open_; }
  // Notes that the process is alive if a record is open. True if one is.
  bool beat();
  // Lets the producer no longer commit, nor take or free a place: the process ends. It takes effect
  // at its next attempt.
  void hold_producer();

 private:
  Ring() = default;
  bool map(Failure* failure);
  bool allocate_file(int fd, uint32_t places) const;
  // Lays the file over the address range of the ring.
  bool lay_file(uint8_t* base, int fd, uint32_t places, int flags) const;
  // Makes a file again that was deleted, on the producing thread.
  void restore_file();
  bool copy_to(int fd) const;
  // Where the blocks of the table end in the ring's file.
  size_t table_end(uint32_t places) const;
  bool allocate_table(uint32_t places);
  bool map_waiting(int fd);
  bool lay_waiting_file(uint8_t* base, int fd) const;
  // Appends to `all` what still waits, and numbers it.
  [[gnu::cold]] void lay_waiting();
  [[gnu::cold]] void remove_stream();
  // Only its own: where its directory was removed and made again, the path is another ring's.
  [[gnu::cold]] void remove_file();

  template <Stamp kStamp>
  [[gnu::noinline, gnu::cold]] void commit_slowly() {
    if (stamp_.put<kStamp>(data_ + (head_ & mask_))) {
      note_commits(1, control_->pending);
      publish(static_cast<uint32_t>(control_->pending));
    } else {
      commit_after_preface();
    }
  }
  // Whether it waits in a ring that is not closed.
  bool has_group(uint32_t group) const;
  WaitingGroup* waiting_groups();
  uint64_t waiting_room() const;
  std::vector<uint32_t> positions_of(uint32_t group) const;
  uint64_t copy_records(uint32_t group, uint16_t reason);
  void publish_group(uint32_t group, uint32_t state, Ring& to, uint64_t bytes, size_t count,
                     uint32_t upto);
  void copy_record(uint32_t position, uint64_t bytes, size_t count, uint16_t reason);
  // Of the ring that this one feeds: before slots are freed, and to free them.
  void attend_slots();
  void free_slot(uint32_t at);
  void free_open_record(OpenRecord* head, uint32_t at);
  void free_ended(uint32_t group);
  uint32_t reverse_ended(uint32_t at);
  uint8_t* put_ended(Ring& to, OpenRecord* head, uint32_t bytes);
  // Moves what waits in slots to a ring that has so much room, the oldest first.
  uint64_t move_ended(uint32_t group, Ring& to, uint64_t room, uint16_t reason);
  // Publishes what the clock wants before the `pending` bytes at the head, and then these. Where it
  // finds no room, they are dropped.
  void commit_after_preface();
  // Publishes the prefaces before `record`; `bytes` of it lie at the head, and move on. Stamps it.
  bool put_prefaces(uint8_t* record, uint32_t bytes);
  bool put_preface(const uint8_t* record, uint32_t bytes);

  [[gnu::always_inline]] void publish(uint32_t bytes) {
    ControlPage& control = *control_;
    const uint64_t head = head_ + bytes;
    head_ = head;
    control.head.store(head, std::memory_order_release);
    if (__builtin_expect(head >= control.wake_at.load(std::memory_order_relaxed), 0)) wake();
  }

  // Where nothing tells records apart they are counted as they are committed: how many in the high
  // half, and in the low one that of the head to which they lead. Just before that moves by
  // `bytes`.
  void note_commits(uint64_t more, int32_t bytes) {
    const uint64_t commits = (commits_.load(std::memory_order_relaxed) >> 32) + more;
    const uint32_t to = static_cast<uint32_t>(head_) + static_cast<uint32_t>(bytes);
    commits_.store(commits << 32 | to, std::memory_order_release);
  }
  uint64_t head_with_count(uint64_t* commits) const;

  void wake();
  void set_wake_at(uint64_t position) {
    control_->wake_at.store(position, std::memory_order_relaxed);
  }
  uint64_t free_bytes() const {
    return capacity_ - (head_ - control_->tail.load(std::memory_order_acquire));
  }
  // Free bytes; 0: the budget of the target is spent.
  uint64_t unspent_bytes() const;
  void note_stall(uint64_t from);
  [[gnu::cold]] void lay_end();
  [[gnu::cold]] bool complete_stream();
  [[gnu::cold]] bool write_open_records();
  [[gnu::cold]] void send_open_records(const OpenRecords::Closed& closed);
  [[gnu::cold]] bool write_end();
  [[gnu::cold]] bool write_end_metadata();
  void notify_waiters();

  // Read by every commit.
  uint8_t* data_ = nullptr;
  ControlPage* control_ = nullptr;
  uint64_t head_ = 0;
  uint64_t mask_ = 0;
  CommitStamp stamp_;
  std::atomic<uint64_t> commits_{0};
  uint64_t drained_commits_ = 0;  // as `commits_` was when its position was the tail
  // Where the tail stood when a wait for a socket ran out.
  uint64_t waited_at_ = UINT64_MAX;

  size_t control_bytes_ = 0;
  size_t capacity_ = 0;
  RingOptions options_;
  std::string first_path_;
  FileIdentity identity_;  // of its file
  std::shared_ptr<FilePiece> piece_;
  std::shared_ptr<RingSink> sink_;
  Drainer* drainer_ = nullptr;
  std::mutex consumer_;
  std::atomic<bool> finished_{false};
  // What is to be done once it is finished, under the consumer lock: to drain up to `end_`, and to
  // append `ending_`, whose records are stamped.
  uint64_t end_ = 0;
  Epilogue ending_{};
  OpenRecords open_;
  // Where records wait: page, groups, and the data twice in a row.
  uint8_t* waiting_ = nullptr;
  std::shared_ptr<Ring> feeds_;  // of a ring in which the records of another one wait
  std::unique_ptr<WaitingIndex> index_;
  std::atomic<bool> wants_file_{false};
  uint64_t socket_limit_ = 0;  // when a socket is no longer waited for
  std::atomic<bool> kept_{false};
  bool retired_ = false;  // nothing is left to do
  std::mutex end_metadata_lock_;
  std::map<double, std::string> end_metadata_;
  bool end_metadata_due_ = false;
  std::mutex waiters_lock_;
  std::condition_variable drained_;
  std::atomic<int> waiters_{0};
};

}  // namespace tracewright
