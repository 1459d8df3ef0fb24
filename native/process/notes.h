// Texts that the threads of a process share, by name.
#pragma once

#include <string>

namespace tracewright {

// An empty text removes the note.
void put_note(const std::string& name, const std::string& text);
// Empty if there is none.
std::string get_note(const std::string& name);

// Whether `thread` is to put a note that does not exist yet. No other thread gets the claim until
// the note is put or the claims of `thread` are released.
bool claim_note(const std::string& name, const void* thread);
void release_claims(const void* thread);

}  // namespace tracewright
