#include "record.h"

#include <cstring>

#include "check.h"

namespace tracewright {
namespace test {

namespace {

constexpr uint32_t kLongestRecord = 1u << 30;

uint32_t swapped(uint32_t value) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return __builtin_bswap32(value);
#else
  return value;
#endif
}

uint64_t swapped(uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return __builtin_bswap64(value);
#else
  return value;
#endif
}

uint8_t filling(uint32_t producer, uint64_t number, size_t at) {
  return static_cast<uint8_t>(producer * 89 + number * 31 + at * 7);
}

}  // namespace

void encode_record(uint8_t* place, uint32_t bytes, uint32_t producer, uint64_t number,
                   uint64_t stamp) {
  const uint32_t length = swapped(bytes);
  std::memcpy(place, &length, 4);
  std::memcpy(place + 4, &producer, 4);
  std::memcpy(place + 8, &stamp, 8);
  std::memcpy(place + 16, &number, 8);
  for (size_t i = kRecordHead; i < bytes; ++i) place[i] = filling(producer, number, i);
}

size_t decode_record(const uint8_t* bytes, size_t count, bool big_stamp, Record* record) {
  if (count < kRecordHead) return 0;
  uint32_t length;
  std::memcpy(&length, bytes, 4);
  record->bytes = swapped(length);
  CHECK(record->bytes >= kRecordHead && record->bytes <= kLongestRecord);
  if (count < record->bytes) return 0;
  std::memcpy(&record->producer, bytes + 4, 4);
  std::memcpy(&record->stamp, bytes + 8, 8);
  if (big_stamp) record->stamp = swapped(record->stamp);
  std::memcpy(&record->number, bytes + 16, 8);
  for (size_t i = kRecordHead; i < record->bytes; ++i) {
    if (bytes[i] != filling(record->producer, record->number, i)) {
      std::ostringstream what;
      what << "byte " << i << " of " << record->bytes << " is wrong in record " << record->number
           << " of producer " << record->producer;
      fail(__FILE__, __LINE__, what.str());
    }
  }
  return record->bytes;
}

void Survey::take(const Record& record) {
  Producer& producer = producers_[record.producer];
  if (producer.restarted) {
    producer.restarted = false;
    // Sent again, perhaps, but never with a gap.
    CHECK(record.number <= producer.records);
  } else {
    CHECK_EQUAL(record.number, producer.next);
    if (record.number == producer.records) CHECK(record.stamp >= producer.stamp);
  }
  producer.next = record.number + 1;
  if (record.number == producer.records) {
    producer.records = producer.next;
    producer.stamp = record.stamp;
  }
}

size_t Survey::take_all(const uint8_t* bytes, size_t count) {
  size_t at = 0;
  Record record;
  while (const size_t length = decode_record(bytes + at, count - at, big_stamp_, &record)) {
    take(record);
    at += length;
  }
  return at;
}

void Survey::restart() {
  for (auto& [_, producer] : producers_) producer.restarted = true;
}

uint64_t Survey::records(uint32_t producer) const {
  const auto found = producers_.find(producer);
  return found == producers_.end() ? 0 : found->second.records;
}

uint64_t Survey::last_stamp(uint32_t producer) const {
  const auto found = producers_.find(producer);
  return found == producers_.end() ? 0 : found->second.stamp;
}

Survey survey_file(const std::string& path, size_t offset, bool big_stamp) {
  Survey survey(big_stamp);
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  CHECK(file != nullptr);
  CHECK(std::fseek(file, static_cast<long>(offset), SEEK_SET) == 0);
  std::vector<uint8_t> window(8 << 20);
  size_t held = 0;
  for (;;) {
    const size_t read = std::fread(window.data() + held, 1, window.size() - held, file);
    held += read;
    const size_t used = survey.take_all(window.data(), held);
    if (read == 0) {
      CHECK_EQUAL(held, used);
      break;
    }
    std::memmove(window.data(), window.data() + used, held - used);
    held -= used;
    if (held == window.size()) window.resize(2 * window.size());
  }
  std::fclose(file);
  return survey;
}

}  // namespace test
}  // namespace tracewright
