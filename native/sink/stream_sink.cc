#include "sink/stream_sink.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

#if defined(__linux__)
#include <linux/sockios.h>
#endif

#include "sink/socket_setup.h"

namespace tracewright {

namespace {

constexpr uint64_t kFirstBackoffNs = 100000000;
constexpr uint64_t kLongestBackoffNs = 5000000000;
constexpr size_t kSendBytes = 256 << 10;
// A peer that takes nothing for so long counts as failing.
constexpr uint64_t kStallNs = 5000000000;

#if defined(MSG_NOSIGNAL)
constexpr int kSendFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
#else
constexpr int kSendFlags = MSG_DONTWAIT;
#endif

// Bytes that were given to the kernel and are not acknowledged.
uint64_t outstanding(int fd) {
#if defined(SIOCOUTQ)
  int bytes = 0;
  return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
#elif defined(SO_NWRITE)
  int bytes = 0;
  socklen_t length = sizeof bytes;
  return getsockopt(fd, SOL_SOCKET, SO_NWRITE, &bytes, &length) == 0 && bytes > 0
             ? static_cast<uint64_t>(bytes)
             : 0;
#else
  (void)fd;
  return 0;
#endif
}

}  // namespace

StreamSink::StreamSink(NetworkAddress address, std::string preamble)
    : address_(std::move(address)),
      preamble_(std::move(preamble)),
      next_preamble_(preamble_),
      backoff_(kFirstBackoffNs) {}

void StreamSink::extend_preamble(const std::string& packets) {
  std::lock_guard<std::mutex> lock(lock_);
  next_preamble_ += packets;
}

std::string StreamSink::name() const {
  return address_.port.empty() ? address_.host : address_.host + ":" + address_.port;
}

void StreamSink::tick(uint64_t now) {
  std::lock_guard<std::mutex> lock(lock_);
  // The drain thread may still have a ring in hand that has been finished since.
  if (abandoned()) return;
  if (state_ == State::connected) {
    if (peer_is_there()) send_preamble();
  } else {
    connect_step(now);
  }
}

void StreamSink::connect_step(uint64_t now) {
  if (state_ == State::idle) {
    if (now < retry_at_) return;
    lookup_ = std::make_unique<AddressLookup>(address_, SOCK_STREAM);
    state_ = State::looking_up;
  }
  if (state_ == State::looking_up) {
    const AddressLookup::State found = lookup_->state();
    if (found == AddressLookup::State::pending) return;
    if (found == AddressLookup::State::failed) {
      Failure failure;
      failure.set("look up", name() + ": " + lookup_->error(), kLookupFailed);
      fail(failure);
      state_ = State::idle;
      retry_at_ = now + backoff_;
      backoff_ = std::min(backoff_ * 2, kLongestBackoffNs);
      return;
    }
    const ResolvedAddress to = lookup_->address();
    fd_ = open_socket(to, SOCK_STREAM);
    if (!fd_) {
      disconnect("open a socket to", errno);
      return;
    }
    if (connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.length) == 0) {
      connected();
    } else if (errno == EINPROGRESS) {
      state_ = State::connecting;
    } else {
      disconnect("connect to", errno);
    }
    return;
  }
  if (state_ == State::connecting) {
    pollfd poll_entry = {fd_.get(), POLLOUT, 0};
    if (poll(&poll_entry, 1, 0) <= 0) return;
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error == 0) {
      connected();
    } else {
      disconnect("connect to", error);
    }
  }
}

void StreamSink::connected() {
  state_ = State::connected;
  backoff_ = kFirstBackoffNs;
  preamble_ = next_preamble_;
  preamble_sent_ = 0;
  sent_ = 0;
  acknowledged_records_ = 0;
  moved_at_ = Clock::monotonic();
  congested_ = false;
  unfinished_ = nullptr;
  counts_.connections.fetch_add(1, std::memory_order_relaxed);
  recovered();
  send_preamble();
}

void StreamSink::disconnect(const char* action, int error, bool broken) {
  Failure failure;
  failure.set(action, name(), error);
  fail(failure);
  // What a unix socket has acknowledged its peer has read.
  if (state_ == State::connected && broken && !address_.port.empty()) {
    counts_.broken_connections.fetch_add(1, std::memory_order_relaxed);
    counts_.doubtful_records.fetch_add(acknowledged_records_, std::memory_order_relaxed);
  }
  fd_.reset();
  state_ = State::idle;
  retry_at_ = Clock::monotonic() + backoff_;
  backoff_ = std::min(backoff_ * 2, kLongestBackoffNs);
  congested_ = false;
  unfinished_ = nullptr;
  // What was not acknowledged is sent again, from the start of its record.
  for (auto& each : progress_) {
    Progress& progress = each.second;
    progress.sent_to = progress.whole_to = 0;
    progress.segments.clear();
  }
}

bool StreamSink::peer_is_there() {
  // Nothing is expected from the peer; an end of file is the news that it went away.
  char ignored[512];
  for (;;) {
    const ssize_t read = recv(fd_.get(), ignored, sizeof ignored, MSG_DONTWAIT);
    if (read > 0) continue;
    if (read < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return true;
    // A peer that closes its end has read what came; one with unread bytes resets the connection.
    disconnect("keep the connection to", read == 0 ? ECONNRESET : errno, read != 0);
    return false;
  }
}

bool StreamSink::send_preamble() {
  while (preamble_sent_ < preamble_.size()) {
    const ssize_t sent = send(fd_.get(), preamble_.data() + preamble_sent_,
                              preamble_.size() - preamble_sent_, kSendFlags);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) disconnect("send to", errno);
      return false;
    }
    preamble_sent_ += static_cast<size_t>(sent);
    sent_ += static_cast<uint64_t>(sent);
    counts_.bytes.fetch_add(static_cast<uint64_t>(sent), std::memory_order_relaxed);
    counts_.sent_bytes.fetch_add(static_cast<uint64_t>(sent), std::memory_order_relaxed);
  }
  return true;
}

void StreamSink::count_sent(const Ring& ring, Progress& progress) {
  uint64_t records = 0;
  while (progress.whole_to < progress.sent_to) {
    const uint64_t end = progress.whole_to + ring.record_bytes(progress.whole_to);
    if (end > progress.sent_to) break;
    progress.whole_to = end;
    ++records;
  }
  progress.ever_whole_to = std::max(progress.ever_whole_to, progress.whole_to);
  counts_.sent_records.fetch_add(records, std::memory_order_relaxed);
}

bool StreamSink::drain(Ring& ring, uint64_t to) {
  std::lock_guard<std::mutex> lock(lock_);
  if (state_ != State::connected) connect_step(Clock::monotonic());
  if (state_ != State::connected || !peer_is_there() || !send_preamble()) return false;
  // Records of two rings must not be cut into each other.
  if (unfinished_ != nullptr && unfinished_ != &ring) return false;

  Progress& progress = progress_[&ring];
  const uint64_t begun_at = ring.tail();
  const uint64_t now = Clock::monotonic();
  if (progress.segments.empty()) moved_at_ = now;
  progress.sent_to = std::max(progress.sent_to, begun_at);
  progress.whole_to = std::max(progress.whole_to, begun_at);
  congested_ = false;
  while (progress.sent_to < to) {
    const ssize_t sent = send(fd_.get(), ring.at(progress.sent_to),
                              std::min<uint64_t>(to - progress.sent_to, kSendBytes), kSendFlags);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        congested_ = true;
        break;
      }
      disconnect("send to", errno);
      return false;
    }
    progress.sent_to += static_cast<uint64_t>(sent);
    sent_ += static_cast<uint64_t>(sent);
    counts_.sent_bytes.fetch_add(static_cast<uint64_t>(sent), std::memory_order_relaxed);
    progress.segments.push_back({progress.sent_to, sent_});
  }
  count_sent(ring, progress);
  unfinished_ = progress.sent_to < to ? &ring : nullptr;
  if (!release_acknowledged(ring, progress)) return false;
  if (ring.tail() != begun_at) {
    moved_at_ = now;
    recovered();
  } else if (ring.tail() != to && now - moved_at_ > kStallNs && !failing()) {
    Failure failure;
    failure.set("wait for", name(), ETIMEDOUT);
    fail(failure);
  }
  return ring.tail() == to;
}

// False when the connection has broken.
bool StreamSink::release_acknowledged(Ring& ring, Progress& progress) {
  const uint64_t acknowledged = sent_ - std::min(sent_, outstanding(fd_.get()));
  // After it: what a socket holds unread when it closes is no longer outstanding either.
  if (!peer_is_there()) return false;
  uint64_t reached = ring.tail();
  while (!progress.segments.empty() && progress.segments.front().sent <= acknowledged) {
    reached = progress.segments.front().position;
    progress.segments.pop_front();
  }
  if (!progress.segments.empty()) {
    const Segment& partly = progress.segments.front();
    const uint64_t missing = partly.sent - acknowledged;
    if (missing < partly.position) reached = std::max(reached, partly.position - missing);
  }
  // `partly` may begin after bytes of another ring, so never beyond what this ring has sent.
  reached = std::min(reached, progress.sent_to);
  uint64_t tail = ring.tail();
  const uint64_t from = tail;
  uint64_t records = 0;
  while (tail < reached) {
    const uint32_t bytes = ring.record_bytes(tail);
    if (tail + bytes > reached) break;
    tail += bytes;
    ++records;
  }
  ring.release(tail);
  acknowledged_records_ += records;
  counts_.records.fetch_add(records, std::memory_order_relaxed);
  counts_.bytes.fetch_add(tail - from, std::memory_order_relaxed);
  return true;
}

void StreamSink::leave(Ring& ring) {
  std::lock_guard<std::mutex> lock(lock_);
  uint64_t sent_to = ring.tail();
  const auto found = progress_.find(&ring);
  if (found != progress_.end()) {
    sent_to = std::max(sent_to, found->second.ever_whole_to);
    progress_.erase(found);
  }
  if (unfinished_ == &ring) disconnect("finish a record to", ECANCELED, false);
  counts_.unacknowledged_records.fetch_add(ring.count_records(ring.tail(), sent_to),
                                           std::memory_order_relaxed);
  counts_.lost_records.fetch_add(ring.count_records(sent_to, ring.head()),
                                 std::memory_order_relaxed);
}

void StreamSink::shut() {
  std::lock_guard<std::mutex> lock(lock_);
  fd_.reset();
  lookup_.reset();
  state_ = State::idle;
  congested_ = false;
  unfinished_ = nullptr;
  progress_.clear();
}

int StreamSink::poll_descriptor(short* events) {
  std::lock_guard<std::mutex> lock(lock_);
  *events = congested_ || state_ == State::connecting ? POLLIN | POLLOUT : POLLIN;
  return fd_.get();
}

bool StreamSink::restless() {
  std::lock_guard<std::mutex> lock(lock_);
  return state_ != State::connected || preamble_sent_ < preamble_.size();
}

}  // namespace tracewright
