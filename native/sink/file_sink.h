// Records into files, by positioned writes: writing the same bytes twice changes nothing, so that a
// recovery need not know how far the last write got.
#pragma once

#include <memory>
#include <string>

#include "file/file_descriptor.h"
#include "file/file_identity.h"
#include "file/file_mode.h"
#include "sink/piece_series.h"
#include "sink/sink.h"

namespace tracewright {

// A file fed by one ring: position p of the ring lies at base + p.
class OwnFileSink : public Sink {
 public:
  // Creates the file anew (it must not exist) and writes `preamble` to its start.
  static std::shared_ptr<OwnFileSink> create(const std::string& path, const std::string& preamble,
                                             Failure* failure, mode_t mode = kPrivateFile);

  bool drain(Ring& ring, uint64_t to) override;
  bool append(Ring& ring, const uint8_t* head, size_t head_bytes, const uint8_t* body,
              size_t body_bytes, Failure* failure) override;
  void locate(RingOptions* options) override { options->target_identity = identity_; }
  bool in_place() const override;
  bool may_take_more() const override { return in_place(); }

 protected:
  void shut() override { fd_.reset(); }

 private:
  FileDescriptor fd_;
  FileIdentity identity_;
  std::string path_;
  uint64_t base_ = 0;
};

// How a trace is kept from growing for ever; all 0: it is not.
struct SizeLimits {
  PieceNames pieces;
  uint64_t rotate_bytes = 0;  // where the next piece begins; 0: the trace is one file
  uint64_t keep_bytes = 0;    // what all pieces together may take: the oldest go; 0: all stay
};

// A file fed by the rings of several threads, or a series of them: every drain takes a place at the
// end of the file for the chunk, and notes it in the ring's control page before it writes.
class SharedFileSink : public Sink {
 public:
  static std::shared_ptr<SharedFileSink> create(const std::string& path,
                                                const std::string& preamble, bool replace,
                                                const SizeLimits& limits, Failure* failure,
                                                mode_t mode = kPrivateFile);

  bool drain(Ring& ring, uint64_t to) override;
  void leave(Ring& ring) override;
  void locate(RingOptions* options) override;
  void follow(Ring& ring) override;
  void discard_unused() override;
  bool may_take_more() const override;
  void tick(uint64_t now) override;
  void extend_preamble(const std::string& packets) override;
  bool append(Ring& ring, const uint8_t* head, size_t head_bytes, const uint8_t* body,
              size_t body_bytes, Failure* failure) override;
  bool append_open(Ring& ring, uint64_t end, const OpenRecords::Closed& closed) override;

 private:
  // Whether the last piece has nothing but its preamble.
  bool is_empty() const { return end_ == piece_begin_; }
  bool take_place(uint64_t bytes, Failure* failure);
  bool make_room_beside(uint64_t bytes);
  void count_records(const FilePiece& piece, uint64_t records) {
    counts_.records.fetch_add(records, std::memory_order_relaxed);
    piece.records->fetch_add(records, std::memory_order_relaxed);
  }
  bool go_along(Ring& ring, Failure* failure);

  // Held while a place at the end of the file is taken and noted: a place that no ring has noted
  // must never be followed by another one. What no ring holds is written under it altogether, so
  // that a kill can cut it only at the end of the file.
  mutable std::mutex end_lock_;
  std::shared_ptr<FilePiece> piece_;  // the last
  uint64_t end_ = 0;
  uint64_t piece_begin_ = 0;             // where records begin in `piece_`
  std::string preamble_;                 // of the next piece
  std::unique_ptr<PieceSeries> series_;  // null: one file
  SizeLimits limits_;
  std::atomic<uint64_t> number_{0};  // of `piece_`
  std::atomic<bool> shrink_again_{false};
};

}  // namespace tracewright
