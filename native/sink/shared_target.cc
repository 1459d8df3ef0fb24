#include "sink/shared_target.h"

#include <map>

namespace tracewright {

namespace {

struct Targets {
  std::mutex lock;
  std::map<std::string, std::weak_ptr<SharedTarget>> open;
  std::map<std::string, std::shared_ptr<SharedTarget>> kept;
};

Targets& targets() {
  // Never destroyed: threads may outlive every static.
  static Targets* const all = new Targets();
  return *all;
}

}  // namespace

std::shared_ptr<SharedTarget> join_target(
    const std::string& key, const std::function<std::shared_ptr<SharedTarget>(Failure*)>& make,
    Failure* failure) {
  Targets& all = targets();
  std::lock_guard<std::mutex> lock(all.lock);
  std::weak_ptr<SharedTarget>& known = all.open[key];
  std::shared_ptr<SharedTarget> target = known.lock();
  // All threads may have closed it before JavaScript frees it.
  if (!target || target->sink->abandoned()) {
    target = make(failure);
    known = target;
    if (!target) {
      all.open.erase(key);
      return target;
    }
  }
  target->sink->hold();
  return target;
}

void keep_target(const std::string& key) {
  Targets& all = targets();
  std::lock_guard<std::mutex> lock(all.lock);
  const std::shared_ptr<SharedTarget> target = all.open[key].lock();
  if (!target || target->sink->abandoned()) return;
  if (all.kept.emplace(key, target).second) target->sink->hold();
}

int64_t SharedTarget::take_number(const uint32_t* wanted) {
  std::lock_guard<std::mutex> lock(numbers_lock_);
  if (wanted != nullptr) return numbers_.insert(*wanted).second ? int64_t{*wanted} : -1;
  while (!numbers_.insert(next_number_).second) ++next_number_;
  return next_number_;
}

uint32_t SharedTarget::define(const std::string& key) {
  std::lock_guard<std::mutex> lock(definitions_lock_);
  const auto known = definitions_.find(key);
  if (known != definitions_.end()) return known->second;
  if (definitions_.size() >= kMostDefinitions) return 0;
  const auto number = static_cast<uint32_t>(definitions_.size() + 1);
  definitions_.emplace(key, number);
  return number;
}

bool SharedTarget::repeat_definition(uint32_t number, const std::string& packet) {
  std::lock_guard<std::mutex> lock(definitions_lock_);
  if (repeated_.count(number) > 0) return true;
  if (repeated_bytes_ + packet.size() > kMostDefinitionBytes) return false;
  repeated_.insert(number);
  repeated_bytes_ += packet.size();
  sink->extend_preamble(packet);
  return true;
}

}  // namespace tracewright
