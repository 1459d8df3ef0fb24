// Records over a connection, TCP or unix: reconnects, and sends again what the peer's machine had
// not acknowledged.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "file/file_descriptor.h"
#include "sink/network_address.h"
#include "sink/sink.h"

namespace tracewright {

class StreamSink : public Sink {
 public:
  // `preamble` is the first thing on every connection.
  StreamSink(NetworkAddress address, std::string preamble);

  bool drain(Ring& ring, uint64_t to) override;
  void leave(Ring& ring) override;
  void tick(uint64_t now) override;
  int poll_descriptor(short* events) override;
  bool restless() override;
  bool slow() const override { return true; }
  void extend_preamble(const std::string& packets) override;

 protected:
  void shut() override;

 private:
  enum class State { idle, looking_up, connecting, connected };

  // A piece of a ring that was given to the kernel: up to `position` of the ring, up to `sent` of
  // the connection.
  struct Segment {
    uint64_t position;
    uint64_t sent;
  };
  struct Progress {
    uint64_t sent_to = 0;
    uint64_t whole_to = 0;       // end of the last record that was sent whole
    uint64_t ever_whole_to = 0;  // the same, over any connection
    std::deque<Segment> segments;
  };

  void connect_step(uint64_t now);
  void connected();
  void disconnect(const char* action, int error, bool broken = true);
  bool peer_is_there();
  bool send_preamble();
  bool release_acknowledged(Ring& ring, Progress& progress);
  void count_sent(const Ring& ring, Progress& progress);
  std::string name() const;

  const NetworkAddress address_;
  std::string preamble_;       // of this connection
  std::string next_preamble_;  // of the next one
  std::mutex lock_;
  State state_ = State::idle;
  std::unique_ptr<AddressLookup> lookup_;
  FileDescriptor fd_;
  uint64_t retry_at_ = 0;
  uint64_t backoff_;
  size_t preamble_sent_ = 0;
  uint64_t sent_ = 0;                  // bytes given to this connection
  uint64_t acknowledged_records_ = 0;  // of this connection
  uint64_t moved_at_ = 0;  // ns; when something was last acknowledged, or there was nothing to do
  bool congested_ = false;
  const Ring* unfinished_ = nullptr;  // a record of this ring was cut by a full socket
  std::unordered_map<const Ring*, Progress> progress_;
};

}  // namespace tracewright
