#include "process/shared_list_file.h"

#include <map>
#include <mutex>

#include "file/anchor.h"
#include "file/replace_file.h"

namespace tracewright {

namespace {

struct List {
  std::map<std::string, std::string> entries;
  std::string before;
  std::string after;
};

struct Lists {
  std::mutex lock;
  std::map<std::string, List> by_path;
};

Lists& lists() {
  // Never destroyed: threads may outlive every static.
  static Lists* const all = new Lists();
  return *all;
}

// Under the lock of the lists.
bool replace_list(const std::string& path, const List& list, Failure* failure, mode_t mode) {
  std::string content = list.before;
  bool first = true;
  for (const auto& [_, each] : list.entries) {
    if (!first) content += ",";
    content += each;
    first = false;
  }
  return replace_file(path, content + list.after, failure, mode);
}

}  // namespace

bool put_list_entry(const std::string& path, const std::string& key, const std::string& entry,
                    const std::string& before, const std::string& after, Failure* failure,
                    mode_t mode) {
  Lists& all = lists();
  std::lock_guard<std::mutex> lock(all.lock);
  List& list = all.by_path[path];
  if (!entry.empty()) list.entries[key] = entry;
  list.before = before;
  list.after = after;
  return replace_list(path, list, failure, mode);
}

bool renew_list_entry(const std::string& path, const std::string& key, const std::string& entry,
                      Failure* failure, mode_t mode) {
  Lists& all = lists();
  std::lock_guard<std::mutex> lock(all.lock);
  const auto found = all.by_path.find(path);
  struct stat about;
  if (found == all.by_path.end() || status_of(path, &about) != 0) return true;
  found->second.entries[key] = entry;
  return replace_list(path, found->second, failure, mode);
}

}  // namespace tracewright
