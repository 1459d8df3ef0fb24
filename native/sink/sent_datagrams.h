// The datagrams that were sent last, by how they begin: a refusal quotes the one that it is of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracewright {

class SentDatagrams {
 public:
  struct Datagram {
    uint64_t key = 0;
    uint64_t records = 0;
    uint64_t bytes = 0;
  };

  void add(const void* begin, size_t bytes, uint64_t records);
  // The one that begins with what is quoted of it, or the last one if that is too short. Each is
  // found once; null: none.
  const Datagram* take(const void* quote, size_t bytes);
  const Datagram* take_last();

 private:
  static constexpr size_t kMost = 1024;
  const Datagram* take_at(size_t index);

  // A ring, the last at `next_ - 1`. One that was found has no key.
  std::vector<Datagram> datagrams_;
  size_t next_ = 0;
  Datagram taken_;
};

}  // namespace tracewright
