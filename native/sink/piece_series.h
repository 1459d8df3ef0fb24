// A trace in numbered pieces: `trace.heph` becomes `trace.000001.heph`, `trace.000002.heph` and so
// on, each a file that is complete in itself. The oldest go when there are too many bytes of them.
#pragma once

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
};

class PieceSeries {
 public:
  // `ring_directory`: where the rings lie; empty: next to the trace.
  // `mode`: of new pieces, less the umask.
  PieceSeries(const std::string& path, const std::string& ring_directory,
              mode_t mode = kPrivateFile);

  std::string path_of(uint64_t number) const;
  // Where the ring of a piece lies, from where it would lie for the whole trace: recovery finds the
  // rings of a file by their names.
  std::string ring_path_of(const std::string& ring_path, uint64_t number) const;

  // Makes the next piece, beginning with `preamble`, as a file that is whole from its first moment.
  std::shared_ptr<FilePiece> create_next(const std::string& preamble, Failure* failure);

  // Removes pieces before number `last`, the lowest first, until all but that one take at most
  // `bytes`; but none that a ring still feeds or would complete. Whether they do.
  bool shrink_others_to(uint64_t bytes, uint64_t last) const;

  // What all pieces take, except the one with this number.
  uint64_t bytes_without(uint64_t number) const;

 private:
  struct Found {
    uint64_t number;
    uint64_t bytes;
    bool has_ring;
  };
  std::vector<Found> found() const;
  std::vector<Found> found_again() const;
  std::vector<uint64_t> numbers_with_ring() const;
  uid_t owner_of_rings() const;

  std::string directory_;  // with its slash
  std::shared_ptr<Anchor> anchor_;
  std::string ring_directory_;
  std::string stem_;
  std::string extension_;  // with its dot
  mode_t mode_;
  // By the last look into the directory: there may be no descriptor for another.
  mutable std::vector<Found> found_;
};

}  // namespace tracewright
