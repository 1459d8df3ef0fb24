#include "sink/pipe_sink.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "process/process_end.h"

namespace tracewright {

namespace {

constexpr size_t kWriteBytes = 1 << 20;
// How often a wait looks whether a signal ends the process.
constexpr int kLookMs = 50;
#if defined(MSG_NOSIGNAL)
constexpr int kSendFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
#else
constexpr int kSendFlags = MSG_DONTWAIT;
#endif

bool has_room(int fd, int wait_ms) {
  pollfd entry{fd, POLLOUT, 0};
  return poll(&entry, 1, wait_ms) > 0;
}

// In a directory that others can write to, another user's pipe would hand the trace to that user.
bool is_trusted(const struct stat& about) {
  return about.st_uid == geteuid() || about.st_uid == 0;
}

}  // namespace

std::shared_ptr<PipeSink> PipeSink::create(const std::string& name, int descriptor,
                                           Failure* failure) {
  std::shared_ptr<PipeSink> sink(new (std::nothrow) PipeSink(name, descriptor == -1));
  if (!sink) {
    failure->set("allocate", "a sink", ENOMEM);
    return nullptr;
  }
  if (descriptor == -1) {
    sink->open_path();
    if (!sink->gone()) return sink;
    *failure = sink->last_failure();
    return nullptr;
  }
  FileDescriptor fd(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!fd) {
    failure->set("write to", name);
    return nullptr;
  }
  const int access = fcntl(fd.get(), F_GETFL);
  if (access == -1 || (access & O_ACCMODE) == O_RDONLY) {
    failure->set("write to", name, EBADF);
    return nullptr;
  }
  return sink->take(std::move(fd), failure) ? sink : nullptr;
}

bool PipeSink::take(FileDescriptor fd, Failure* failure) {
  struct stat about {};
  if (fstat(fd.get(), &about) != 0) {
    failure->set("write to", name_);
    return false;
  }
  kind_ = S_ISSOCK(about.st_mode) ? Kind::socket : S_ISREG(about.st_mode) ? Kind::file : Kind::pipe;
  fd_ = std::move(fd);
  return true;
}

// Under the lock. A pipe that nobody reads yet is no failure.
bool PipeSink::open_path() {
  if (fd_) return true;
  FileDescriptor fd(open(name_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  Failure failure;
  if (!fd) {
    if (errno != ENXIO && errno != EINTR) refuse("open", errno, &failure);
    return false;
  }
  struct stat about {};
  const bool known = fstat(fd.get(), &about) == 0;
  if (!known || !(S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode)) || !is_trusted(about)) {
    refuse("open", known ? EPERM : errno, &failure);
    return false;
  }
  return take(std::move(fd), &failure);
}

// What has gone for good is not tried again.
void PipeSink::refuse(const char* action, int error, Failure* failure) {
  failure->set(action, name_, error);
  if (error != ENOSPC && error != EDQUOT && error != EMFILE && error != ENFILE) gone_.store(true);
  fail(*failure);
}

ssize_t PipeSink::write_some(const uint8_t* bytes, size_t count) {
  size_t most = std::min(count, kWriteBytes);
  // A blocking pipe with room takes so much at once. Its other writers may rely on its flags.
  if (kind_ == Kind::pipe && !has_path_) {
    if (!has_room(fd_.get(), 0)) return 0;
    most = std::min<size_t>(most, PIPE_BUF);
  }
  for (;;) {
    const ssize_t written = kind_ == Kind::socket ? send(fd_.get(), bytes, most, kSendFlags)
                                                  : ::write(fd_.get(), bytes, most);
    if (written >= 0) return written;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) return -1;
  }
}

bool PipeSink::drain(Ring& ring, uint64_t to) {
  std::lock_guard<std::mutex> lock(lock_);
  uint64_t from = ring.tail();
  congested_ = false;
  if (gone_ || (from < to && !open_path())) return from == to;
  while (from < to) {
    const ssize_t written = write_some(ring.at(from), to - from);
    if (written < 0) {
      Failure failure;
      refuse("write to", errno, &failure);
      return false;
    }
    if (written == 0) {
      congested_ = true;
      return false;
    }
    from += static_cast<uint64_t>(written);
    count_bytes(static_cast<uint64_t>(written));
    ring.release(from);
  }
  recovered();
  return true;
}

// Waits for the reader.
bool PipeSink::write_all(const uint8_t* bytes, size_t count, Failure* failure) {
  while (count > 0) {
    const ssize_t written = write_some(bytes, count);
    if (written < 0) {
      refuse("write to", errno, failure);
      return false;
    }
    if (written == 0 && ProcessEnd::hastened()) {
      failure->set("write to", name_, EAGAIN);
      return false;
    }
    if (written == 0) has_room(fd_.get(), kLookMs);
    bytes += written;
    count -= static_cast<size_t>(written);
  }
  return true;
}

bool PipeSink::append(Ring&, const uint8_t* head, size_t head_bytes, const uint8_t* body,
                      size_t body_bytes, Failure* failure) {
  for (;;) {
    {
      std::lock_guard<std::mutex> lock(lock_);
      if (!gone_ && open_path()) break;
    }
    if (gone_ || ProcessEnd::hastened()) {
      *failure = last_failure();
      return false;
    }
    poll(nullptr, 0, kLookMs);
  }
  return write_all(head, head_bytes, failure) && write_all(body, body_bytes, failure);
}

int PipeSink::poll_descriptor(short* events) {
  std::lock_guard<std::mutex> lock(lock_);
  // Only while it is full: of a pipe without a reader poll returns at once, every time.
  if (!congested_ || gone_) return -1;
  *events = POLLOUT;
  return fd_.get();
}

void PipeSink::shut() {
  std::lock_guard<std::mutex> lock(lock_);
  fd_.reset();
  congested_ = false;
  gone_.store(true);
}

}  // namespace tracewright
