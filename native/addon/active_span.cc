#include "addon/active_span.h"

#include <algorithm>

#include "addon/collection_callbacks.h"

namespace tracewright {

namespace {

using Address = uintptr_t;

// Words of an isolate in which the slot lies.
constexpr size_t kSearched = 1024;
// Words of a span among which its ids are. An object begins with map, properties and elements.
constexpr size_t kSpanWords = 14;
constexpr size_t kFirstField = 3;
// Of a map (JSMap): its table. Of a table: its length, and the first word that may be a key.
constexpr size_t kTable = 3;
constexpr size_t kLength = 1;
constexpr size_t kFirstKey = 5;
constexpr size_t kMostWords = 512;
// Of spans that are recorded: OPEN and ENDED of src/spans/span.ts.
constexpr int32_t kOpen = 1;
constexpr int32_t kEnded = 2;

// Without compressed pointers the tag of an object is 1, and a small integer is the high half.
bool is_object(Address value) {
  return (value & 3) == 1 && value > 4096;
}

Address word(Address object, size_t at) {
  return reinterpret_cast<const Address*>(object - 1)[at];
}

bool is_integer(Address value) {
  return (value & 0xffffffff) == 0;
}

int32_t integer(Address value) {
  return static_cast<int32_t>(value >> 32);
}

Address tagged(int32_t value) {
  return static_cast<Address>(static_cast<uint32_t>(value)) << 32;
}

Address object_of(napi_value value) {
  return value == nullptr ? 0 : *reinterpret_cast<const Address*>(value);
}

using Globalize = Address* (*)(void* isolate, Address value);
Globalize globalize() {
  static const Globalize call = [] {
    Globalize found = nullptr;
    find_symbol(&found, "_ZN2v812api_internal18GlobalizeReferenceEPNS_8internal7IsolateEm");
    return found;
  }();
  return call;
}

// The field that alone has a value; 0: there is not exactly one.
size_t only_field(Address span, int32_t value) {
  size_t found = 0;
  for (size_t at = kFirstField; at < kSpanWords; ++at) {
    if (word(span, at) != tagged(value)) continue;
    if (found != 0) return 0;
    found = at;
  }
  return found;
}

}  // namespace

ActiveSpan::ActiveSpan(void* isolate) : isolate_(isolate) {
  const CollectionCallbacks& callbacks = CollectionCallbacks::instance();
  callbacks.add_begin(isolate_, on_begin, this, CollectionCallbacks::kAllKinds);
  callbacks.add_end(isolate_, on_end, this, CollectionCallbacks::kAllKinds);
}

ActiveSpan::~ActiveSpan() {
  const CollectionCallbacks& callbacks = CollectionCallbacks::instance();
  callbacks.remove_begin(isolate_, on_begin, this);
  callbacks.remove_end(isolate_, on_end, this);
}

void ActiveSpan::on_begin(void*, int, int, void* self) {
  static_cast<ActiveSpan*>(self)->collecting_.fetch_add(1);
}

void ActiveSpan::on_end(void*, int, int, void* self) {
  static_cast<ActiveSpan*>(self)->collecting_.fetch_sub(1);
}

bool ActiveSpan::learn(const Known& known) {
  if (globalize() == nullptr || !CollectionCallbacks::instance().usable) return false;
  const Address span = object_of(known.span);
  if (!is_object(span)) return false;
  int32_t high = 0;
  int32_t low = 0;
  if (known.storage == nullptr) {
    if (!learn_slot(span) || !learn_fields(known, span)) return false;
    ready_.store(true);
    // As the handler reads it: this state is none of a recorded span.
    if (found_span(*slot_) == span && !read(high, low)) return true;
    ready_.store(false);
    return false;
  }
  const Address storage = object_of(known.storage);
  if (!ready_.load() || !is_object(storage) || !is_object(*slot_)) return false;
  const Address frame = *slot_;
  sample_map_ = globalize()(isolate_, frame);
  storage_ = globalize()(isolate_, storage);
  maps_ready_.store(true);
  if (found_span(frame) == span) return true;
  maps_ready_.store(false);
  return false;
}

// The first frame leaves some places that may be the slot, the second one of them.
bool ActiveSpan::learn_slot(Address frame) {
  const auto* const words = static_cast<const Address*>(isolate_);
  if (!has_first_) {
    has_first_ = true;
    for (size_t at = 0; at < kSearched; ++at) {
      if (words[at] != frame) continue;
      if (candidate_count_ == kMostCandidates) return false;
      candidates_[candidate_count_++] = at;
    }
    return false;
  }
  size_t* const end = std::remove_if(candidates_, candidates_ + candidate_count_,
                                     [&](size_t at) { return words[at] != frame; });
  candidate_count_ = static_cast<size_t>(end - candidates_);
  if (candidate_count_ != 1) return false;
  slot_ = words + candidates_[0];
  return true;
}

bool ActiveSpan::learn_fields(const Known& known, Address span) {
  high_at_ = only_field(span, known.high);
  low_at_ = only_field(span, known.low);
  state_at_ = only_field(span, known.state);
  sample_span_ = globalize()(isolate_, span);
  return high_at_ != 0 && low_at_ != 0 && state_at_ != 0 && sample_span_ != nullptr;
}

bool ActiveSpan::read(int32_t& high, int32_t& low) const {
  if (!ready_.load(std::memory_order_relaxed) || collecting_.load(std::memory_order_relaxed) != 0)
    return false;
  const Address span = found_span(*slot_);
  if (span == 0) return false;
  const Address values[] = {word(span, high_at_), word(span, low_at_), word(span, state_at_)};
  for (const Address value : values) {
    if (!is_integer(value)) return false;
  }
  const int32_t state = integer(values[2]);
  if (state != kOpen && state != kEnded) return false;
  high = integer(values[0]);
  low = integer(values[1]);
  return true;
}

Address ActiveSpan::found_span(Address frame) const {
  if (!is_object(frame)) return 0;
  if (word(frame, 0) == word(*sample_span_, 0)) return frame;
  return maps_ready_.load(std::memory_order_relaxed) ? in_map(frame) : 0;
}

Address ActiveSpan::in_map(Address frame) const {
  if (word(frame, 0) != word(*sample_map_, 0)) return 0;
  const Address table = word(frame, kTable);
  if (!is_object(table)) return 0;
  const Address length = word(table, kLength);
  const size_t words = is_integer(length) ? static_cast<size_t>(integer(length))
                                          : static_cast<size_t>(length & 0xffffffff);
  const Address storage = *storage_;
  for (size_t at = kFirstKey; at + 1 < std::min(words, kMostWords); ++at) {
    if (word(table, at) != storage) continue;
    const Address value = word(table, at + 1);
    return is_object(value) && word(value, 0) == word(*sample_span_, 0) ? value : 0;
  }
  return 0;
}

}  // namespace tracewright
