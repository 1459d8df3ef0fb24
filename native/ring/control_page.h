// The front of every ring: the two ends of the queue, and all that another process needs to
// complete the trace after this one has died. Only this file defines the layout; the TypeScript
// side receives the offsets from the addon.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tracewright {

constexpr char kRingMagic[8] = {'T', 'W', 'R', 'I', 'N', 'G', '\r', '\n'};
constexpr uint32_t kRingVersion = 3;
constexpr size_t kPathBytes = 4096;
constexpr size_t kEpilogues = 4;
constexpr size_t kEpilogueBytes = 48;
constexpr size_t kNoteBytes = 8192;

// Records that end the stream if its thread can no longer do so. Which of them is right changes
// with every state event, so all are laid down at the start and one number selects.
struct Epilogue {
  uint32_t records;
  uint32_t record_bytes;  // each; the clock is stamped into every one when it is used
  uint8_t bytes[kEpilogueBytes];
};

enum class TargetKind : uint32_t {
  own_file = 1,     // ring position p lies at base_offset + p
  shared_file = 2,  // several rings: each chunk's place is in `claim`
  socket = 3,       // nothing to recover
};

struct ControlPage {
  // Written once, before the ring is used.
  char magic[8];
  uint32_t version;
  uint32_t control_bytes;
  uint64_t capacity;
  char format[16];
  TargetKind target_kind;
  uint32_t stamp_offset;
  uint64_t base_offset;
  int64_t pid;
  uint64_t process_start;  // field 22 of /proc/<pid>/stat, 0 where there is none
  char boot_id[48];
  uint32_t note_bytes;

  // Producer: bytes committed since the ring began. Only ever at a record boundary.
  alignas(64) std::atomic<uint64_t> head;
  // Clock of the last record that was stamped or checked: what ends the stream comes no earlier.
  std::atomic<uint64_t> last_stamp;
  // Consumer: bytes that have reached the target.
  alignas(64) std::atomic<uint64_t> tail;
  // The producer wakes the drain thread when head reaches this.
  alignas(64) std::atomic<uint64_t> wake_at;

  // The producing thread's JavaScript writes `pending` and `epilogue`, and reads the rest.
  alignas(64) int32_t pending;  // bytes of the record that the next commit publishes
  int32_t epilogue;             // which of `epilogues` applies; 0: none
  int32_t stalled;              // set when make_room had to write or wait
  int32_t position;             // where the next record goes, set by the slow paths
  uint64_t stall_from;          // ns, the last stall
  uint64_t stall_to;
  double stamp;  // ns after the epoch of the ring, set by read_stamp
  // Counted by JavaScript (a drop is decided there), read by stats.
  double dropped_events;
  double refused_events;
  int32_t unfinished;  // set while the target lacks an end that only its format can write

  // What is being written, noted before it is. Shared file: a chunk of the ring and its place. A
  // file of the ring's own: that `claim_offset` bytes which never were in the ring go after the
  // head, from `claim_from` to `claim_to`.
  alignas(64) std::atomic<uint64_t> claim_from;
  std::atomic<uint64_t> claim_to;
  std::atomic<uint64_t> claim_offset;
  // The file that the ring feeds, by its FileIdentity: a ring that lies elsewhere knows it again
  // where it was moved, and takes no other for it that has come to its path. Inode 0: not noted.
  std::atomic<uint64_t> target_inode;
  std::atomic<uint64_t> target_born;

  // Of a file of the ring's own; without the last store it says nothing.
  void claim_behind(uint64_t position, uint64_t bytes) {
    claim_offset.store(bytes, std::memory_order_relaxed);
    claim_from.store(position, std::memory_order_relaxed);
    claim_to.store(position + bytes, std::memory_order_release);
  }

  alignas(64) Epilogue epilogues[kEpilogues];

  // Written by the producing thread's JavaScript: what put_words() is to put where.
  alignas(64) int32_t words_at;  // bytes from the start of the data
  int32_t words;                 // 32-bit words

  // What the commit's stamp shares with its writer, who knows its kind.
  alignas(64) double stamp_area[8];

  // The table of open records (open_records.h), which lies between this page and the data.
  // It grows in the room before the data: a place that counts here has its blocks on the disk.
  alignas(64) std::atomic<uint32_t> open_places;
  uint32_t open_stride;  // bytes of a place
  int32_t number_at;    // where a record has its series and number, two u32 big-endian; -1: nowhere
  uint32_t stamp_kind;  // a Stamp
  uint64_t epoch;       // of `big` stamps, CLOCK_MONOTONIC
  uint32_t length_at;   // where a record has its length, u32 big-endian; 0: nowhere

  // The producing thread's JavaScript writes these but for `attention`.
  alignas(64) std::atomic<int32_t> open_records;  // places that are taken
  // Not 0: the thread is to call before it takes or frees a place.
  std::atomic<int32_t> attention;
  uint32_t series;  // of the records that it numbers, and the number of the next one
  std::atomic<uint32_t> next_number;
  double unkept_records;  // found every place taken, or were too long for one
  // What commit_open() is to publish: where the record lies, in bytes from the start of the table,
  // and a word that its final form has, with its place in the record.
  int32_t ending_at;
  int32_t final_word_at;
  uint32_t final_word;
  // What begin_open() is to copy to `ending_at`: where it lies in the table, and its bytes; 0:
  // nothing.
  uint32_t copied_from;
  uint32_t copied_bytes;

  // The drain thread: when the process was last known to be alive, CLOCK_MONOTONIC.
  alignas(64) std::atomic<uint64_t> alive_at;
  // Where the stream ends, plus 1, once it has ended; the head says nothing from there on. 0: it
  // goes on.
  std::atomic<uint64_t> ended_at;

  // Where records wait: bytes from the start of the ring's file to their own page, which is laid
  // out as this one, and how many bytes of data they have. The groups follow that page, then the
  // data. 0: nowhere.
  uint64_t waiting_at;
  uint64_t waiting_capacity;
  uint32_t waiting_groups;
  uint32_t group_at;  // where a record has the eight bytes of its group

  // NUL-terminated absolute paths.
  alignas(4096) char target[kPathBytes];
  char finish_from[kPathBytes];  // renamed to finish_to once the stream is complete
  char finish_to[kPathBytes];
  char note[kNoteBytes];  // the format's own, for recovery
};

// Of a claim after the head: only the format knows how much.
constexpr uint64_t kAnyBytes = uint64_t{1} << 52;

constexpr size_t kControlBytes = 32768;  // then the table of open records, then the data
static_assert(sizeof(ControlPage) <= kControlBytes, "the control page outgrew its place");
static_assert(offsetof(ControlPage, target) == 4096, "the hot part outgrew its page");
static_assert(std::atomic<uint64_t>::is_always_lock_free, "shared through a mapping");

}  // namespace tracewright
