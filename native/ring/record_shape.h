// How the records of a ring are told apart, as far as native code has to count them: it knows no
// format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace tracewright {

struct RecordShape {
  enum class Kind { unknown, fixed, lines, flagged };
  Kind kind = Kind::unknown;
  // Fixed: of a record. Flagged: of its head, whose first byte has in its low four bits the bytes
  // that follow, less one, or 0; with bit 4 a u32 and as many bytes follow.
  uint32_t bytes = 0;
  // Flagged: records whose second byte begins so are the recorder's own, and do not count.
  std::string own;

  // Records in `count` bytes that begin and end at a record boundary.
  uint64_t count_in(const uint8_t* records, uint64_t count) const {
    switch (kind) {
      case Kind::fixed:
        return bytes == 0 ? 0 : count / bytes;
      case Kind::lines:
        return lines_in(records, count);
      case Kind::flagged:
        return flagged_in(records, count);
      case Kind::unknown:
        break;
    }
    return 0;
  }

 private:
  static uint64_t lines_in(const uint8_t* records, uint64_t count) {
    uint64_t lines = 0;
    for (uint64_t i = 0; i < count; ++i) lines += records[i] == '\n' ? 1 : 0;
    return lines;
  }

  uint64_t flagged_in(const uint8_t* records, uint64_t count) const {
    constexpr uint8_t kShort = 0x0f;
    constexpr uint8_t kLong = 0x10;
    uint64_t found = 0;
    for (uint64_t at = 0; at + bytes <= count;) {
      const uint8_t* const record = records + at;
      const uint8_t flags = record[0];
      const bool is_own = !own.empty() && std::memcmp(record + 1, own.data(), own.size()) == 0;
      if (!is_own) ++found;
      uint32_t more = (flags & kShort) == 0 ? 0 : (flags & kShort) + 1u;
      if ((flags & kLong) != 0 && at + bytes + sizeof more <= count) {
        std::memcpy(&more, record + bytes, sizeof more);
        at += sizeof more;
      }
      at += uint64_t{bytes} + more;
    }
    return found;
  }
};

}  // namespace tracewright
