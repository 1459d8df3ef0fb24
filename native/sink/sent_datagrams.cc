#include "sink/sent_datagrams.h"

#include <algorithm>

namespace tracewright {

namespace {

// Enough to tell packets of a stream apart; a router quotes far more, or nothing.
constexpr size_t kKeyBytes = 24;

// FNV-1a, never 0.
uint64_t key_of(const void* begin, size_t bytes) {
  const auto* at = static_cast<const uint8_t*>(begin);
  uint64_t key = 0xcbf29ce484222325;
  for (size_t i = 0; i < std::min(bytes, kKeyBytes); ++i) key = (key ^ at[i]) * 0x100000001b3;
  return key == 0 ? 1 : key;
}

}  // namespace

void SentDatagrams::add(const void* begin, size_t bytes, uint64_t records) {
  if (datagrams_.empty()) datagrams_.resize(kMost);
  datagrams_[next_++ % kMost] = {key_of(begin, bytes), records, bytes};
}

const SentDatagrams::Datagram* SentDatagrams::take_at(size_t index) {
  taken_ = datagrams_[index];
  datagrams_[index].key = 0;
  return &taken_;
}

const SentDatagrams::Datagram* SentDatagrams::take(const void* quote, size_t bytes) {
  const size_t held = std::min(next_, kMost);
  const uint64_t key = key_of(quote, bytes);
  for (size_t i = 1; i <= held; ++i) {
    const size_t index = (next_ - i) % kMost;
    if (datagrams_[index].key == key) return take_at(index);
  }
  return bytes < kKeyBytes ? take_last() : nullptr;
}

const SentDatagrams::Datagram* SentDatagrams::take_last() {
  const size_t held = std::min(next_, kMost);
  for (size_t i = 1; i <= held; ++i) {
    const size_t index = (next_ - i) % kMost;
    if (datagrams_[index].key != 0) return take_at(index);
  }
  return nullptr;
}

}  // namespace tracewright
