#include <cstddef>

#include "addon/calls.h"
#include "ring/control_page.h"
#include "ring/ring.h"

namespace tracewright {

void add_control_layout(Napi::Object exports) {
  const Napi::Env env = exports.Env();
  Napi::Object layout = Napi::Object::New(env);
  const auto put = [&](const char* name, size_t value) {
    layout[name] = Napi::Number::New(env, static_cast<double>(value));
  };
  put("pending", offsetof(ControlPage, pending));
  put("epilogue", offsetof(ControlPage, epilogue));
  put("stalled", offsetof(ControlPage, stalled));
  put("position", offsetof(ControlPage, position));
  put("stallFrom", offsetof(ControlPage, stall_from));
  put("stallTo", offsetof(ControlPage, stall_to));
  put("stamp", offsetof(ControlPage, stamp));
  put("droppedEvents", offsetof(ControlPage, dropped_events));
  put("refusedEvents", offsetof(ControlPage, refused_events));
  put("unfinished", offsetof(ControlPage, unfinished));
  put("wordsAt", offsetof(ControlPage, words_at));
  put("words", offsetof(ControlPage, words));
  put("stampArea", offsetof(ControlPage, stamp_area));
  put("epilogues", offsetof(ControlPage, epilogues));
  put("epilogueStride", sizeof(Epilogue));
  put("epilogueHeadBytes", offsetof(Epilogue, bytes));
  put("version", offsetof(ControlPage, version));
  put("controlBytes", offsetof(ControlPage, control_bytes));
  put("capacity", offsetof(ControlPage, capacity));
  put("format", offsetof(ControlPage, format));
  put("targetKind", offsetof(ControlPage, target_kind));
  put("stampOffset", offsetof(ControlPage, stamp_offset));
  put("baseOffset", offsetof(ControlPage, base_offset));
  put("pid", offsetof(ControlPage, pid));
  put("processStart", offsetof(ControlPage, process_start));
  put("bootId", offsetof(ControlPage, boot_id));
  put("head", offsetof(ControlPage, head));
  put("lastStamp", offsetof(ControlPage, last_stamp));
  put("tail", offsetof(ControlPage, tail));
  put("claimFrom", offsetof(ControlPage, claim_from));
  put("claimTo", offsetof(ControlPage, claim_to));
  put("claimOffset", offsetof(ControlPage, claim_offset));
  put("anyBytes", kAnyBytes);
  put("targetInode", offsetof(ControlPage, target_inode));
  put("targetBorn", offsetof(ControlPage, target_born));
  put("openPlaces", offsetof(ControlPage, open_places));
  put("openStride", offsetof(ControlPage, open_stride));
  put("numberAt", offsetof(ControlPage, number_at));
  put("stampKind", offsetof(ControlPage, stamp_kind));
  put("epoch", offsetof(ControlPage, epoch));
  put("lengthAt", offsetof(ControlPage, length_at));
  put("openRecords", offsetof(ControlPage, open_records));
  put("attention", offsetof(ControlPage, attention));
  put("series", offsetof(ControlPage, series));
  put("nextNumber", offsetof(ControlPage, next_number));
  put("unkeptRecords", offsetof(ControlPage, unkept_records));
  put("endingAt", offsetof(ControlPage, ending_at));
  put("copiedFrom", offsetof(ControlPage, copied_from));
  put("aliveAt", offsetof(ControlPage, alive_at));
  put("endedAt", offsetof(ControlPage, ended_at));
  put("waitingAt", offsetof(ControlPage, waiting_at));
  put("waitingCapacity", offsetof(ControlPage, waiting_capacity));
  put("waitingGroups", offsetof(ControlPage, waiting_groups));
  put("groupAt", offsetof(ControlPage, group_at));
  put("waitingPage", kWaitingPage);
  put("waitingAlignment", kWaitingAlignment);
  put("groupBytes", sizeof(WaitingGroup));
  put("waitingReserve", kWaitingReserve);
  put("openTable", kControlBytes);
  put("openHeadBytes", sizeof(OpenRecord));
  put("openState", offsetof(OpenRecord, state));
  put("openMark", offsetof(OpenRecord, mark));
  put("openClosing", offsetof(OpenRecord, closing));
  put("openLength", OpenRecord::kLength);
  put("openCommitting", OpenRecord::kCommitting);
  put("openEnded", OpenRecord::kEnded);
  put("mostOpenPlaces", OpenRecords::kMostPlaces);
  put("longestOpen", OpenRecords::kLongest);
  put("target", offsetof(ControlPage, target));
  put("pathBytes", kPathBytes);
  put("note", offsetof(ControlPage, note));
  put("noteBytes", kNoteBytes);
  put("bytes", Ring::closed_ring()->control_bytes());
  exports["control"] = layout;
}

}  // namespace tracewright
