// Records over UDP: as many whole records as fit into each datagram, never a part of one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "file/file_descriptor.h"
#include "sink/network_address.h"
#include "sink/sent_datagrams.h"
#include "sink/sink.h"

namespace tracewright {

class DatagramSink : public Sink {
 public:
  // `preamble` goes out first and again every few seconds while there is traffic, for listeners
  // that come late.
  DatagramSink(NetworkAddress address, std::string preamble, size_t datagram_bytes);

  bool drain(Ring& ring, uint64_t to) override;
  void leave(Ring& ring) override;
  void tick(uint64_t now) override;
  int poll_descriptor(short* events) override;
  bool restless() override;
  bool slow() const override { return true; }
  void extend_preamble(const std::string& packets) override;
  void update_counts() override;

 protected:
  void shut() override;

 private:
  bool ready();
  bool send_preamble(uint64_t now);
  bool send_packets(const std::string& packets);
  bool take_refusals();
  void count_refusal(const SentDatagrams::Datagram* refused, int error);

  const NetworkAddress address_;
  std::vector<std::string> preamble_;  // a datagram each
  const size_t datagram_bytes_;
  std::mutex lock_;
  std::unique_ptr<AddressLookup> lookup_;
  FileDescriptor fd_;
  SentDatagrams sent_;
  bool quotes_refusals_ = false;  // the system says which datagram was refused
  int unrefused_ = 2;             // drains in a row of which nothing was refused
  bool congested_ = false;
  uint64_t retry_at_ = 0;
  uint64_t preamble_at_ = 0;
};

}  // namespace tracewright
