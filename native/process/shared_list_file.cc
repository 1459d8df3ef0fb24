#include "process/shared_list_file.h"

#include <map>
#include <mutex>

#include "file/replace_file.h"

namespace tracewright {

namespace {

using Entries = std::map<std::string, std::string>;

struct Lists {
  std::mutex lock;
  std::map<std::string, Entries> by_path;
};

Lists& lists() {
  // Never destroyed: threads may outlive every static.
  static Lists* const all = new Lists();
  return *all;
}

}  // namespace

bool put_list_entry(const std::string& path, const std::string& key, const std::string& entry,
                    const std::string& before, const std::string& after, Failure* failure,
                    mode_t mode) {
  Lists& all = lists();
  std::lock_guard<std::mutex> lock(all.lock);
  Entries& entries = all.by_path[path];
  if (!entry.empty()) entries[key] = entry;
  std::string content = before;
  bool first = true;
  for (const auto& [_, each] : entries) {
    if (!first) content += ",";
    content += each;
    first = false;
  }
  return replace_file(path, content + after, failure, mode);
}

}  // namespace tracewright
