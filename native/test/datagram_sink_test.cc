#include "sink/datagram_sink.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <arpa/inet.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sched.h>
#endif

#include <cstring>
#include <random>
#include <thread>

#include "check.h"
#include "drain/drain_thread.h"
#include "eventually.h"
#include "loopback.h"
#include "producer.h"
#include "record.h"
#include "test_ring.h"

namespace tracewright {
namespace test {

namespace {

constexpr int kPatienceMs = 60000;
const std::string kPreamble = "udp preamble";

void expect_preamble(DatagramReceiver& receiver) {
  const std::vector<uint8_t> first = receiver.receive(kPatienceMs);
  CHECK_EQUAL(std::string(first.begin(), first.end()), kPreamble);
}

// Takes datagrams until `records` of each producer are there.
void receive_all(DatagramReceiver& receiver, Survey& survey, uint32_t producers, uint64_t records,
                 size_t datagram_bytes) {
  for (;;) {
    bool complete = true;
    for (uint32_t id = 0; id < producers; ++id) {
      complete = complete && survey.records(id) == records;
    }
    if (complete) return;
    const std::vector<uint8_t> datagram = receiver.receive(kPatienceMs);
    CHECK(!datagram.empty());
    if (std::string(datagram.begin(), datagram.end()) == kPreamble) continue;
    CHECK(datagram.size() <= datagram_bytes);
    CHECK_EQUAL(survey.take_all(datagram.data(), datagram.size()), datagram.size());
  }
}

#if defined(__linux__)
const char kCollector[] = "10.9.9.9";

bool bring_loopback_up() {
  const FileDescriptor control(socket(AF_INET, SOCK_DGRAM, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK;
  return ioctl(control.get(), SIOCSIFFLAGS, &request) == 0;
}

bool route_to_collector(unsigned long change) {
  const FileDescriptor control(socket(AF_INET, SOCK_DGRAM, 0));
  rtentry route{};
  sockaddr_in destination{};
  destination.sin_family = AF_INET;
  destination.sin_addr.s_addr = inet_addr(kCollector);
  std::memcpy(&route.rt_dst, &destination, sizeof destination);
  char device[] = "lo";
  route.rt_dev = device;
  route.rt_flags = RTF_UP | RTF_HOST;
  return ioctl(control.get(), change, &route) == 0;
}
#endif

}  // namespace

TEST(datagrams_hold_whole_records_of_several_rings) {
  DatagramReceiver receiver;
  constexpr size_t kDatagram = 1400;
  constexpr uint32_t kProducers = 3;
  const auto sink = std::make_shared<DatagramSink>(receiver.address(), kPreamble, kDatagram);
  const uint64_t rounds = scaled(3200);
  constexpr uint64_t kBurst = 40;
  std::vector<std::shared_ptr<Ring>> rings;
  std::vector<Producer> producers;
  for (uint32_t id = 0; id < kProducers; ++id) {
    rings.push_back(open_socket_ring(sink, FullPolicy::drop));
    producers.emplace_back(*rings[id], id);
  }
  expect_preamble(receiver);
  Survey survey(true);
  std::minstd_rand random(1);
  for (uint64_t round = 1; round <= rounds; ++round) {
    std::vector<std::thread> threads;
    // Loopback loses what its reader is too slow for: a burst that its buffer holds, then a look.
    for (uint32_t id = 0; id < kProducers; ++id) {
      for (uint64_t i = 0; i < kBurst; ++i) {
        const uint32_t bytes = kRecordHead + static_cast<uint32_t>(random() % 700);
        CHECK(producers[id].write<Stamp::big>(bytes));
      }
      threads.emplace_back([&, id] { CHECK(rings[id]->wait_drained(rings[id]->head(), 60000)); });
    }
    for (std::thread& thread : threads) thread.join();
    receive_all(receiver, survey, kProducers, round * kBurst, kDatagram);
  }
  CHECK_EQUAL(sink->counts().records.load(), kProducers * rounds * kBurst);
  CHECK_EQUAL(sink->counts().lost_records.load(), 0u);
  for (const auto& ring : rings) ring->finish(1000);
}

TEST(datagrams_of_large_records_stand_alone) {
  DatagramReceiver receiver;
  const auto sink = std::make_shared<DatagramSink>(receiver.address(), kPreamble, 65507);
  const auto ring = open_socket_ring(sink, FullPolicy::drop);
  Producer producer(*ring, 0);
  expect_preamble(receiver);
  Survey survey(true);
  for (uint64_t round = 1; round <= 50; ++round) {
    CHECK(producer.write<Stamp::big>(65507));
    CHECK(producer.write<Stamp::big>(kRecordHead));
    CHECK(ring->wait_drained(ring->head(), 60000));
    receive_all(receiver, survey, 1, 2 * round, 65507);
  }
  // One that no datagram holds is lost, and counted, and does not stand in the way.
  CHECK(producer.write<Stamp::big>(65508));
  CHECK(ring->wait_drained(ring->head(), 60000));
  CHECK_EQUAL(sink->counts().lost_records.load(), 1u);
  CHECK_EQUAL(sink->last_failure().error, EMSGSIZE);
  ring->finish(1000);
}

TEST(datagrams_without_a_listener_hold_nobody_up) {
  NetworkAddress nobody;
  {
    DatagramReceiver receiver;
    nobody = receiver.address();
  }
  const auto sink = std::make_shared<DatagramSink>(nobody, kPreamble, 1400);
  const auto ring = open_socket_ring(sink, FullPolicy::drop);
  Producer producer(*ring, 0);
  for (int i = 0; i < 2000; ++i) {
    CHECK(producer.write<Stamp::big>(100));
    if (i % 100 == 0) CHECK(ring->wait_drained(ring->head(), 60000));
  }
  CHECK(ring->wait_drained(ring->head(), 60000));
  CHECK_EQUAL(sink->last_failure().error, ECONNREFUSED);
  const SinkCounts& counts = sink->counts();
  CHECK_EQUAL(counts.lost_records.load(), 0u);
#if defined(__linux__)
  CHECK(eventually([&] {
    sink->update_counts();
    return counts.peer_refused_records.load() == 2000u;
  }));
  CHECK_EQUAL(counts.records.load(), 0u);
  // The reports are taken: they do not wake the drain thread again and again.
  const uint64_t rounds = DrainThread::instance().rounds();
  pause_us(300000);
  CHECK(DrainThread::instance().rounds() - rounds < 20);
#else
  CHECK_EQUAL(counts.records.load() + counts.peer_refused_records.load(), 2000u);
#endif
  ring->finish(1000);
}

TEST(datagrams_for_an_unknown_host_stay_in_the_ring) {
  const auto sink =
      std::make_shared<DatagramSink>(NetworkAddress{"host.invalid", "9"}, kPreamble, 1400);
  const auto ring = open_socket_ring(sink, FullPolicy::drop, 64 << 10);
  Producer producer(*ring, 0);
  uint64_t dropped = 0;
  for (int i = 0; i < 1000; ++i) dropped += producer.write<Stamp::big>(100) ? 0 : 1;
  CHECK_EQUAL(producer.written(), (64u << 10) / 100);
  CHECK_EQUAL(dropped, 1000 - producer.written());
  const uint64_t before = Clock::monotonic();
  ring->finish(100);
  CHECK(Clock::monotonic() - before < 30000000000);
  CHECK_EQUAL(sink->counts().lost_records.load(), producer.written());
}

TEST(datagrams_wait_for_a_network_that_is_down) {
#if defined(__linux__)
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    // A network of the child's own, in which the way to the collector comes and goes.
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) SKIP("no network namespace to be had");
    if (!bring_loopback_up() || !route_to_collector(SIOCADDRT)) SKIP("no network to configure");
    const auto sink = std::make_shared<DatagramSink>(NetworkAddress{kCollector, "9"}, "", 1400);
    const auto ring = open_socket_ring(sink, FullPolicy::drop);
    Producer producer(*ring, 0);
    CHECK(producer.write<Stamp::big>(100));
    CHECK(ring->wait_drained(ring->head(), 60000));
    CHECK(route_to_collector(SIOCDELRT));
    for (int i = 0; i < 100; ++i) CHECK(producer.write<Stamp::big>(100));
    CHECK(!ring->wait_drained(ring->head(), 300));
    CHECK_EQUAL(sink->last_failure().error, ENETUNREACH);
    CHECK(route_to_collector(SIOCADDRT));
    CHECK(ring->wait_drained(ring->head(), 60000));
    CHECK_EQUAL(sink->counts().records.load(), 101u);
    // And nobody waits for ever when it is away at the end.
    CHECK(route_to_collector(SIOCDELRT));
    CHECK(producer.write<Stamp::big>(100));
    ring->finish(100);
    CHECK_EQUAL(sink->counts().lost_records.load(), 1u);
    std::exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) std::_Exit(77);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#else
  SKIP("network namespaces are Linux's");
#endif
}

}  // namespace test
}  // namespace tracewright
