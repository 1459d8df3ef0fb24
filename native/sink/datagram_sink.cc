#include "sink/datagram_sink.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#if defined(__linux__)
#include <linux/errqueue.h>
#include <netinet/in.h>
#endif

#include "sink/socket_setup.h"

namespace tracewright {

namespace {

constexpr uint64_t kPreambleIntervalNs = 5000000000;
constexpr uint64_t kRetryNs = 1000000000;
constexpr int kBatch = 64;
// In a row, after which they are no longer taken for the echo of earlier datagrams.
constexpr int kMostRefusals = 3;
// Drains without a refusal after which the target works: that of the last datagram may be on its
// way.
constexpr int kUnrefused = 2;

// Errors that say something of an earlier datagram or of the peer, not of this one.
bool passing(int error) {
  return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH ||
         error == EHOSTDOWN || error == EPERM;
}

// Asks for every refusal by itself, with the datagram that it is of. Else several count as one.
bool ask_for_refusals([[maybe_unused]] int fd, [[maybe_unused]] int family) {
#if defined(__linux__)
  const int on = 1;
  return family == AF_INET6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on) == 0
                            : setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on) == 0;
#else
  return false;
#endif
}

}  // namespace

DatagramSink::DatagramSink(NetworkAddress address, std::string preamble, size_t datagram_bytes)
    : address_(std::move(address)),
      preamble_{std::move(preamble)},
      datagram_bytes_(datagram_bytes),
      lookup_(std::make_unique<AddressLookup>(address_, SOCK_DGRAM)) {}

bool DatagramSink::ready() {
  if (fd_) return true;
  const uint64_t now = Clock::monotonic();
  if (now < retry_at_) return false;
  if (!lookup_) lookup_ = std::make_unique<AddressLookup>(address_, SOCK_DGRAM);
  const AddressLookup::State state = lookup_->state();
  if (state == AddressLookup::State::pending) return false;
  Failure failure;
  if (state == AddressLookup::State::found) {
    const ResolvedAddress to = lookup_->address();
    fd_ = open_socket(to, SOCK_DGRAM);
    if (fd_ && connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.length) == 0) {
      quotes_refusals_ = ask_for_refusals(fd_.get(), to.family);
      counts_.connections.fetch_add(1, std::memory_order_relaxed);
      recovered();
      return true;
    }
    failure.set("open a UDP socket to", address_.host + ":" + address_.port);
  } else {
    failure.set("look up", address_.host + ": " + lookup_->error(), kLookupFailed);
  }
  fd_.reset();
  lookup_.reset();
  retry_at_ = now + kRetryNs;
  fail(failure);
  return false;
}

void DatagramSink::extend_preamble(const std::string& packets) {
  std::lock_guard<std::mutex> lock(lock_);
  std::string& last = preamble_.back();
  if (last.size() + packets.size() <= datagram_bytes_) {
    last += packets;
  } else {
    preamble_.push_back(packets);
  }
}

void DatagramSink::count_refusal(const SentDatagrams::Datagram* refused, int error) {
  counts_.peer_refused_datagrams.fetch_add(1, std::memory_order_relaxed);
  unrefused_ = 0;
  Failure failure;
  failure.set("send to", address_.host + ":" + address_.port, error);
  fail(failure);
  if (refused == nullptr || refused->records == 0) return;
  counts_.peer_refused_records.fetch_add(refused->records, std::memory_order_relaxed);
  counts_.records.fetch_sub(refused->records, std::memory_order_relaxed);
  counts_.bytes.fetch_sub(refused->bytes, std::memory_order_relaxed);
}

// Counts what the other machine, or one on the way, has said of earlier datagrams. Whether it has.
bool DatagramSink::take_refusals() {
  bool any = false;
#if defined(__linux__)
  while (fd_ && quotes_refusals_) {
    uint8_t quote[64];
    alignas(cmsghdr) uint8_t control[256];
    iovec part = {quote, sizeof quote};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t bytes = recvmsg(fd_.get(), &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (bytes < 0) break;
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
         each = CMSG_NXTHDR(&message, each)) {
      const bool is_error = (each->cmsg_level == IPPROTO_IP && each->cmsg_type == IP_RECVERR) ||
                            (each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_RECVERR);
      if (!is_error) continue;
      sock_extended_err error;
      std::memcpy(&error, CMSG_DATA(each), sizeof error);
      if (error.ee_origin != SO_EE_ORIGIN_ICMP && error.ee_origin != SO_EE_ORIGIN_ICMP6) continue;
      any = true;
      count_refusal(sent_.take(quote, static_cast<size_t>(bytes)),
                    static_cast<int>(error.ee_errno));
    }
  }
#endif
  int error = 0;
  socklen_t length = sizeof error;
  // One that came without what it is of. It would wake the drain thread until it is taken.
  if (!any && fd_ && getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 &&
      passing(error)) {
    count_refusal(sent_.take_last(), error);
    any = true;
  }
  return any;
}

void DatagramSink::update_counts() {
  std::lock_guard<std::mutex> lock(lock_);
  take_refusals();
}

bool DatagramSink::send_preamble(uint64_t now) {
  if (now < preamble_at_) return true;
  for (const std::string& packets : preamble_) {
    if (!packets.empty() && !send_packets(packets)) return false;
  }
  return true;
}

// False when the socket takes nothing now.
bool DatagramSink::send_packets(const std::string& packets) {
  // An error that an earlier datagram left on the socket is taken by the first attempt.
  for (int attempt = 0; attempt < 2; ++attempt) {
    const ssize_t sent = send(fd_.get(), packets.data(), packets.size(), MSG_DONTWAIT);
    if (sent >= 0) {
      preamble_at_ = Clock::monotonic() + kPreambleIntervalNs;
      counts_.datagrams.fetch_add(1, std::memory_order_relaxed);
      counts_.bytes.fetch_add(packets.size(), std::memory_order_relaxed);
      counts_.sent_bytes.fetch_add(packets.size(), std::memory_order_relaxed);
      sent_.add(packets.data(), packets.size(), 0);
      return true;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return false;
  }
  return true;
}

bool DatagramSink::drain(Ring& ring, uint64_t to) {
  std::lock_guard<std::mutex> lock(lock_);
  if (!ready()) return false;
  congested_ = false;
  if (!send_preamble(Clock::monotonic())) {
    congested_ = true;
    return false;
  }
  int refusals = 0;
  while (ring.tail() < to) {
    iovec parts[kBatch];
    uint64_t ends[kBatch];
    uint64_t records[kBatch];
    int count = 0;
    for (uint64_t from = ring.tail(); from < to && count < kBatch; ++count) {
      uint64_t end = from;
      uint64_t held = 0;
      while (end < to) {
        const uint32_t bytes = ring.record_bytes(end);
        if (held > 0 && end + bytes - from > datagram_bytes_) break;
        end += bytes;
        ++held;
      }
      parts[count].iov_base = const_cast<uint8_t*>(ring.at(from));
      parts[count].iov_len = end - from;
      ends[count] = end;
      records[count] = held;
      from = end;
    }
    int sent = 0;
#if defined(__linux__)
    mmsghdr messages[kBatch] = {};
    for (int i = 0; i < count; ++i) {
      messages[i].msg_hdr.msg_iov = &parts[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    sent = sendmmsg(fd_.get(), messages, static_cast<unsigned>(count), MSG_DONTWAIT);
#else
    while (sent < count &&
           send(fd_.get(), parts[sent].iov_base, parts[sent].iov_len, MSG_DONTWAIT) >= 0) {
      ++sent;
    }
    if (sent == 0) sent = -1;
#endif
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
        congested_ = true;
        return false;
      }
      Failure failure;
      failure.set("send to", address_.host + ":" + address_.port);
      // It was of an earlier datagram.
      if (take_refusals()) continue;
      if (failure.error == ECONNREFUSED && !quotes_refusals_) {
        count_refusal(sent_.take_last(), failure.error);
      } else {
        fail(failure);
      }
      if (passing(failure.error)) {
        // The error is taken, and this datagram has not been tried; unless it is the network that
        // refuses every one.
        if (++refusals < kMostRefusals) continue;
        return false;
      }
      counts_.lost_records.fetch_add(records[0], std::memory_order_relaxed);
      ring.release(ends[0]);
      continue;
    }
    refusals = 0;
    for (int i = 0; i < sent; ++i) {
      sent_.add(parts[i].iov_base, parts[i].iov_len, records[i]);
      counts_.records.fetch_add(records[i], std::memory_order_relaxed);
      counts_.bytes.fetch_add(parts[i].iov_len, std::memory_order_relaxed);
      counts_.sent_bytes.fetch_add(parts[i].iov_len, std::memory_order_relaxed);
    }
    counts_.datagrams.fetch_add(static_cast<uint64_t>(sent), std::memory_order_relaxed);
    ring.release(ends[sent - 1]);
    // A call that has sent some has kept the error to itself.
    if (sent < count) take_refusals();
  }
  if (take_refusals()) return true;
  unrefused_ = std::min(unrefused_ + 1, kUnrefused);
  if (unrefused_ == kUnrefused) recovered();
  return true;
}

void DatagramSink::leave(Ring& ring) {
  {
    // Else the drain thread polls on for records that nobody has any more.
    std::lock_guard<std::mutex> lock(lock_);
    congested_ = false;
  }
  counts_.lost_records.fetch_add(ring.count_records(ring.tail(), ring.head()),
                                 std::memory_order_relaxed);
}

void DatagramSink::shut() {
  std::lock_guard<std::mutex> lock(lock_);
  take_refusals();
  fd_.reset();
  congested_ = false;
}

void DatagramSink::tick(uint64_t now) {
  std::lock_guard<std::mutex> lock(lock_);
  take_refusals();
  // The drain thread may still have a ring in hand that has been finished since.
  if (abandoned()) return;
  // The first preamble does not wait for the first record.
  if (ready() && preamble_at_ == 0) send_preamble(now);
}

int DatagramSink::poll_descriptor(short* events) {
  std::lock_guard<std::mutex> lock(lock_);
  // Refusals come in any case.
  *events = congested_ ? POLLOUT : 0;
  return quotes_refusals_ || congested_ ? fd_.get() : -1;
}

bool DatagramSink::restless() {
  std::lock_guard<std::mutex> lock(lock_);
  return !fd_;
}

}  // namespace tracewright
