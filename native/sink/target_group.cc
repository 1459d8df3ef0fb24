#include "sink/target_group.h"

#include <algorithm>
#include <map>

#include "sink/counts.h"

namespace tracewright {

namespace {

struct Registry {
  std::mutex lock;
  std::map<std::string, std::weak_ptr<TargetGroup>> groups;
  std::map<std::string, TargetGroup::Counts> gone;
};

Registry& registry() {
  // Never destroyed: threads may outlive every static.
  static Registry* const all = new Registry();
  return *all;
}

}  // namespace

std::shared_ptr<TargetGroup> TargetGroup::of(const std::string& name) {
  Registry& all = registry();
  std::lock_guard<std::mutex> lock(all.lock);
  std::shared_ptr<TargetGroup> group = all.groups[name].lock();
  if (group) return group;
  for (auto each = all.groups.begin(); each != all.groups.end();) {
    each = each->second.expired() ? all.groups.erase(each) : std::next(each);
  }
  group = std::make_shared<TargetGroup>(name);
  all.groups[name] = group;
  return group;
}

TargetGroup::~TargetGroup() {
  // Most lose nothing, and a process can have any number of traces in its life.
  if (!gone_.lack_events()) return;
  Registry& all = registry();
  std::lock_guard<std::mutex> lock(all.lock);
  all.gone[name_].add(gone_);
}

std::map<std::string, TargetGroup::Counts> TargetGroup::counts_of_all() {
  // None of them may go away while the registry is held.
  std::vector<std::shared_ptr<TargetGroup>> present;
  std::map<std::string, Counts> counts;
  {
    Registry& all = registry();
    std::lock_guard<std::mutex> lock(all.lock);
    counts = all.gone;
    for (const auto& [name, group] : all.groups) {
      if (auto held = group.lock()) present.push_back(std::move(held));
    }
  }
  for (const auto& group : present) counts[group->name_].add(group->counts());
  return counts;
}

void TargetGroup::Counts::add(const Counts& more) {
  bytes += more.bytes;
  errors += more.errors;
  lost_records += more.lost_records;
  left_bytes += more.left_bytes;
  dropped_records += more.dropped_records;
  refused_records += more.refused_records;
  gone_records += more.gone_records;
  gone_bytes += more.gone_bytes;
  gone_left_bytes += more.gone_left_bytes;
  unsent_records += more.unsent_records;
}

TargetGroup::State TargetGroup::state() const {
  std::lock_guard<std::mutex> lock(lock_);
  return state_;
}

void TargetGroup::Member::add_to(Counts* all) const {
  all->bytes += counts->bytes.load();
  all->errors += counts->errors.load();
  const uint64_t lost = counts->lost_records.load() + counts->unacknowledged_records.load() +
                        counts->peer_refused_records.load();
  all->lost_records += lost;
  if (is_socket) all->unsent_records += lost;
  all->left_bytes += counts->left_bytes.load();
  all->dropped_records += counts->dropped_records.load();
  all->refused_records += counts->refused_records.load();
  all->gone_records += counts->gone_records.load();
  all->gone_bytes += counts->gone_bytes.load();
  all->gone_left_bytes += counts->gone_left_bytes.load();
}

TargetGroup::Counts TargetGroup::counts() const {
  std::lock_guard<std::mutex> lock(lock_);
  Counts counts = gone_;
  for (const Member& sink : sinks_) sink.add_to(&counts);
  return counts;
}

void TargetGroup::enter(const SinkCounts* sink, bool is_socket) {
  std::lock_guard<std::mutex> lock(lock_);
  sinks_.push_back({sink, is_socket});
}

void TargetGroup::leave(const SinkCounts* sink) {
  std::lock_guard<std::mutex> lock(lock_);
  const auto found = std::find_if(sinks_.begin(), sinks_.end(),
                                  [sink](const Member& each) { return each.counts == sink; });
  if (found == sinks_.end()) return;
  found->add_to(&gone_);
  sinks_.erase(found);
}

void TargetGroup::failed(const Failure& failure) {
  std::lock_guard<std::mutex> lock(lock_);
  ++state_.changes;
  state_.failure = failure;
  state_.failing = true;
  if (failing_++ == 0) notify_watchers();
}

void TargetGroup::stopped_failing(bool works) {
  std::lock_guard<std::mutex> lock(lock_);
  ++state_.changes;
  if (--failing_ > 0) return;
  state_.failing = false;
  state_.recovered = works;
  notify_watchers();
}

void TargetGroup::limit(uint64_t bytes, uint64_t used) {
  used_.store(used, std::memory_order_relaxed);
  budget_.store(bytes, std::memory_order_relaxed);
  // The same name may have had a trace before.
  if (spent_.exchange(false)) stopped_failing(false);
  check_budget();
}

void TargetGroup::reserve(uint64_t bytes) {
  reserved_.fetch_add(bytes, std::memory_order_relaxed);
  check_budget();
}

void TargetGroup::charge(uint64_t bytes) {
  used_.fetch_add(bytes, std::memory_order_relaxed);
  check_budget();
}

bool TargetGroup::admit(uint64_t bytes, Failure* failure) {
  const uint64_t budget = budget_.load(std::memory_order_relaxed);
  uint64_t used = used_.load();
  do {
    if (budget > 0 && used + reserved_.load() + bytes > budget) {
      *failure = over_budget();
      return false;
    }
  } while (!used_.compare_exchange_weak(used, used + bytes));
  check_budget();
  return true;
}

Failure TargetGroup::over_budget() const {
  Failure failure;
  failure.set("write more",
              "than the budget of " + std::to_string(budget_.load()) + " bytes allows", EDQUOT);
  return failure;
}

void TargetGroup::check_budget() {
  const uint64_t budget = budget_.load(std::memory_order_relaxed);
  if (budget == 0 || used_.load() + reserved_.load() < budget) return;
  if (spent_.exchange(true)) return;
  failed(over_budget());
}

void TargetGroup::notify_watchers() {
  for (TargetWatcher* watcher : watchers_) watcher->group_changed(name_);
}

void TargetGroup::watch(TargetWatcher* watcher) {
  std::lock_guard<std::mutex> lock(lock_);
  watchers_.push_back(watcher);
  // It may be failing since before.
  if (state_.failing) watcher->group_changed(name_);
}

void TargetGroup::unwatch(TargetWatcher* watcher) {
  std::lock_guard<std::mutex> lock(lock_);
  const bool was_first = !watchers_.empty() && watchers_.front() == watcher;
  watchers_.erase(std::remove(watchers_.begin(), watchers_.end(), watcher), watchers_.end());
  // Its successor speaks from here on.
  if (was_first && state_.failing && !watchers_.empty()) watchers_.front()->group_changed(name_);
}

bool TargetGroup::is_first(const TargetWatcher* watcher) const {
  std::lock_guard<std::mutex> lock(lock_);
  return !watchers_.empty() && watchers_.front() == watcher;
}

}  // namespace tracewright
