// The groups that were decided last, by the low bits of their second word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracewright {

// Times are nanoseconds since the epoch of the ring. They are noted in units of 17 ms, rounded up.
class RememberedGroups {
 public:
  struct Group {
    uint32_t high;
    uint32_t low;
    uint32_t time;  // in units; 0: there is none
    uint32_t reason;
    uint64_t decided_at() const { return uint64_t{time} << kUnitBits; }
  };

  // `sets` is a power of two.
  explicit RememberedGroups(uint32_t sets) : groups_(size_t{sets} * kOfASet), oldest_(sets) {}

  void add(uint32_t high, uint32_t low, uint64_t time, uint32_t reason) {
    uint8_t& oldest = oldest_[set_of(low)];
    at(low, oldest) = {high, low, static_cast<uint32_t>(time >> kUnitBits) + 1, reason};
    oldest = static_cast<uint8_t>((oldest + 1) % kOfASet);
  }

  // The last decision about a group; null: none is known.
  const Group* find(uint32_t high, uint32_t low) const {
    const Group* found = nullptr;
    for (size_t i = 0; i < kOfASet; ++i) {
      const Group& each = at(low, i);
      if (each.low != low || each.high != high || each.time == 0) continue;
      if (found == nullptr || each.time >= found->time) found = &each;
    }
    return found;
  }

  // Whether a group that is not known may have been decided after `time`, and forgotten since.
  bool may_have_forgotten(uint32_t low, uint64_t time) const {
    return at(low, oldest_[set_of(low)]).decided_at() > time;
  }

 private:
  static constexpr size_t kOfASet = 8;
  static constexpr uint32_t kUnitBits = 24;

  size_t set_of(uint32_t low) const { return low & (oldest_.size() - 1); }
  const Group& at(uint32_t low, size_t i) const { return groups_[set_of(low) * kOfASet + i]; }
  Group& at(uint32_t low, size_t i) { return groups_[set_of(low) * kOfASet + i]; }

  std::vector<Group> groups_;
  // Of each set: which one goes next.
  std::vector<uint8_t> oldest_;
};

}  // namespace tracewright
