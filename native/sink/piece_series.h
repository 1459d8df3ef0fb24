// A trace in numbered pieces, each a file that is complete in itself. The oldest go when there are
// too many bytes of them. The format says what pieces and their rings are called.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "file/anchor.h"
#include "file/failure.h"
#include "file/file_descriptor.h"
#include "file/file_mode.h"

namespace tracewright {

struct FilePiece {
  FileDescriptor fd;
  std::string path;
  uint64_t number = 0;  // 0: a trace that is one file
  // That this process has written to it. It outlives the descriptor.
  std::shared_ptr<std::atomic<uint64_t>> records = std::make_shared<std::atomic<uint64_t>>(0);
};

// Paths: a number of at least `digits` digits lies between `before` and `after`.
struct PieceNames {
  std::string before;
  std::string after;
  // A ring of the whole trace begins with `rings`; that of a piece with `rings_before`, the number
  // and `rings_after`. What follows is the same.
  std::string rings;
  std::string rings_before;
  std::string rings_after;
  int digits = 0;
};

class PieceSeries {
 public:
  // `mode`: of new pieces, less the umask.
  explicit PieceSeries(const PieceNames& names, mode_t mode = kPrivateFile);

  std::string path_of(uint64_t number) const;
  // Where the ring of a piece lies, from where it would lie for the whole trace: recovery finds the
  // rings of a file by their names.
  std::string ring_path_of(const std::string& ring_path, uint64_t number) const;

  // Makes the next piece, beginning with `preamble`, as a file that is whole from its first moment.
  // Makes the directory again if it was deleted.
  std::shared_ptr<FilePiece> create_next(const std::string& preamble, Failure* failure);

  // Removes pieces before number `last`, the lowest first, until all but that one take at most
  // `bytes`; but none that a ring still feeds or would complete. Whether they do.
  bool shrink_others_to(uint64_t bytes, uint64_t last) const;

  // Records of this process in the pieces that shrink_others_to has removed.
  uint64_t removed_records() const { return removed_records_; }

  // What all pieces take, except the one with this number.
  uint64_t bytes_without(uint64_t number) const;

 private:
  struct Found {
    uint64_t number;
    uint64_t bytes;
    bool has_ring;
  };
  FileDescriptor create_file(const std::string& path) const;
  std::vector<Found> found() const;
  std::vector<Found> found_again() const;
  std::vector<uint64_t> numbers_with_ring() const;
  uid_t owner_of_rings() const;
  // What a recovery has cut off a piece and kept next to it.
  void remove_cut_ends(const std::string& piece) const;

  // The number at the front of `text`, if `after` follows; 0 otherwise.
  uint64_t number_in(const std::string& text, const std::string& after) const;
  std::string digits(uint64_t number) const;

  PieceNames names_;
  std::string directory_;  // with its slash
  std::shared_ptr<Anchor> anchor_;
  std::string ring_directory_;  // with its slash
  mode_t mode_;
  // By the last look into the directory: there may be no descriptor for another.
  mutable std::vector<Found> found_;
  mutable std::map<uint64_t, std::shared_ptr<std::atomic<uint64_t>>> records_;  // by number
  mutable uint64_t removed_records_ = 0;
};

}  // namespace tracewright
