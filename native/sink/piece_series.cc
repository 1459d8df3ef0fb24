#include "sink/piece_series.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "file/anchor.h"
#include "file/path_text.h"

namespace tracewright {

namespace {

constexpr int kAttempts = 1000;
constexpr char kRingSuffix[] = ".ring";
constexpr char kCutSuffix[] = ".cut";

// The directory of a path, with its slash.
std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

}  // namespace

PieceSeries::PieceSeries(const PieceNames& names, mode_t mode)
    : names_(names),
      directory_(directory_of(names.before)),
      ring_directory_(directory_of(names.rings_before)),
      mode_(mode) {
  // Where it cannot be held open, the first piece fails with the reason.
  Failure failure;
  if (!directory_.empty()) anchor_ = Anchor::hold(directory_, false, &failure);
}

// The digits and what follows are stored by one instruction where a ring notes its new target.
std::string PieceSeries::digits(uint64_t number) const {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llu", names_.digits,
                static_cast<unsigned long long>(number));
  return text;
}

uint64_t PieceSeries::number_in(const std::string& text, const std::string& after) const {
  size_t at = 0;
  uint64_t number = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at < 18) {
    number = number * 10 + static_cast<uint64_t>(text[at++] - '0');
  }
  const bool follows = text.compare(at, after.size(), after) == 0;
  return at >= static_cast<size_t>(names_.digits) && follows ? number : 0;
}

std::string PieceSeries::path_of(uint64_t number) const {
  return names_.before + digits(number) + names_.after;
}

std::string PieceSeries::ring_path_of(const std::string& ring_path, uint64_t number) const {
  if (!begins_with(ring_path, names_.rings)) return ring_path;
  return names_.rings_before + digits(number) + names_.rings_after +
         ring_path.substr(names_.rings.size());
}

// Next to the trace, that of the pieces: network volumes may map users.
uid_t PieceSeries::owner_of_rings() const {
  struct stat about {};
  const bool is_shared = ring_directory_ != directory_;
  if (is_shared || found_.empty()) return geteuid();
  return status_of(path_of(found_.back().number), &about) == 0 ? about.st_uid : geteuid();
}

std::vector<uint64_t> PieceSeries::numbers_with_ring() const {
  std::vector<uint64_t> numbers;
  DIR* const directory = open_directory(ring_directory_);
  if (directory == nullptr) return numbers;
  const std::string start = names_.rings_before.substr(ring_directory_.size());
  const uid_t owner = owner_of_rings();
  while (const dirent* const entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (!begins_with(name, start) || !ends_with(name, kRingSuffix)) continue;
    const uint64_t number = number_in(name.substr(start.size()), names_.rings_after);
    // In a shared directory anybody can make files of such names, and keep pieces from going.
    struct stat about {};
    const bool is_ours = status_of(ring_directory_ + name, &about) == 0 && S_ISREG(about.st_mode) &&
                         about.st_uid == owner;
    if (number != 0 && is_ours) numbers.push_back(number);
  }
  closedir(directory);
  return numbers;
}

std::vector<PieceSeries::Found> PieceSeries::found() const {
  std::vector<Found> pieces;
  DIR* const directory = open_directory(directory_);
  if (directory == nullptr) return found_again();
  const std::string piece_start = names_.before.substr(directory_.size());
  while (const dirent* const entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (begins_with(name, piece_start)) {
      const uint64_t number = number_in(name.substr(piece_start.size()), names_.after);
      struct stat about {};
      if (number == 0 || directory_ + name != path_of(number) ||
          status_of(directory_ + name, &about) != 0 || !S_ISREG(about.st_mode)) {
        continue;
      }
      pieces.push_back({number, static_cast<uint64_t>(about.st_size), false});
    }
  }
  closedir(directory);
  const auto with_ring = numbers_with_ring();
  for (Found& piece : pieces) {
    piece.has_ring = std::find(with_ring.begin(), with_ring.end(), piece.number) != with_ring.end();
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Found& a, const Found& b) { return a.number < b.number; });
  found_ = pieces;
  return pieces;
}

// A ring only ever goes to a later piece: where there was none, there is none now.
std::vector<PieceSeries::Found> PieceSeries::found_again() const {
  std::vector<Found> pieces;
  for (Found piece : found_) {
    struct stat about {};
    if (status_of(path_of(piece.number), &about) != 0) continue;
    piece.bytes = static_cast<uint64_t>(about.st_size);
    pieces.push_back(piece);
  }
  return pieces;
}

FileDescriptor PieceSeries::create_file(const std::string& path) const {
  const auto create = [&] {
    unlink_file(path);
    return FileDescriptor(open_file(path, O_WRONLY | O_CREAT | O_EXCL, mode_));
  };
  FileDescriptor fd = create();
  if (!fd && errno == ENOENT && !directory_.empty() &&
      make_directories(directory_, directory_mode(mode_))) {
    fd = create();
  }
  return fd;
}

std::shared_ptr<FilePiece> PieceSeries::create_next(const std::string& preamble, Failure* failure) {
  const auto pieces = found();
  uint64_t number = pieces.empty() ? 1 : pieces.back().number + 1;
  const std::string fresh = directory_ + "." + names_.before.substr(directory_.size()) +
                            std::to_string(getpid()) + ".new";
  std::shared_ptr<FilePiece> piece(new (std::nothrow) FilePiece());
  if (!piece) {
    failure->set("allocate", "a piece", ENOMEM);
    return nullptr;
  }
  piece->fd = create_file(fresh);
  if (!piece->fd) {
    failure->set("create", fresh);
    return nullptr;
  }
  if (pwrite(piece->fd.get(), preamble.data(), preamble.size(), 0) !=
      static_cast<ssize_t>(preamble.size())) {
    failure->set("write", fresh, errno == 0 ? ENOSPC : errno);
    unlink_file(fresh);
    return nullptr;
  }
  // A link, not a rename: it fails if another process has taken the number.
  for (int attempt = 0; attempt < kAttempts; ++attempt, ++number) {
    piece->path = path_of(number);
    piece->number = number;
    if (link_file(fresh, piece->path) == 0) {
      unlink_file(fresh);
      found_.push_back({number, preamble.size(), true});
      records_[number] = piece->records;
      return piece;
    }
    if (errno != EEXIST) break;
  }
  failure->set("create", piece->path);
  unlink_file(fresh);
  return nullptr;
}

bool PieceSeries::shrink_others_to(uint64_t bytes, uint64_t last) const {
  const auto pieces = found();
  uint64_t total = 0;
  for (const Found& piece : pieces) total += piece.number == last ? 0 : piece.bytes;
  for (const Found& piece : pieces) {
    if (total <= bytes || piece.number >= last) break;
    if (piece.has_ring || unlink_file(path_of(piece.number)) != 0) continue;
    remove_cut_ends(path_of(piece.number));
    total -= piece.bytes;
    const auto known = records_.find(piece.number);
    if (known == records_.end()) continue;
    removed_records_ += known->second->load();
    records_.erase(known);
  }
  return total <= bytes;
}

void PieceSeries::remove_cut_ends(const std::string& piece) const {
  DIR* const directory = open_directory(directory_);
  if (directory == nullptr) return;
  const std::string start = "." + piece.substr(directory_.size()) + ".";
  while (const dirent* const entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (begins_with(name, start) && ends_with(name, kCutSuffix)) unlink_file(directory_ + name);
  }
  closedir(directory);
}

uint64_t PieceSeries::bytes_without(uint64_t number) const {
  uint64_t total = 0;
  for (const Found& piece : found()) {
    if (piece.number != number) total += piece.bytes;
  }
  return total;
}

}  // namespace tracewright
