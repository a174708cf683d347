// Events as lines of JSON, for `fencepost run`. Addresses are raw; symbols are the reader's business. An
// address of code is that of the call, not of its return.
#pragma once

#include <cstdint>
#include <string_view>

#include "sanitizer/core/sites.hpp"
#include "sanitizer/core/weak_memory.hpp"
#include "sanitizer/schedule/scheduler.hpp"

namespace fencepost {

struct AccessNote;
struct Chain;
struct Finding;
struct RaceFinding;
struct Stack;
struct Thread;
class Text;

// Opens the file; again in the child of a fork, which has its own.
void open_json();
// Walks of an exploration that share the work have files of their own, but for the first: FILE.1.jsonl, …
void open_json_of_walks(std::uint32_t count);
// What follows is of that walk; nothing is written if there is none with that number.
void write_json_of_walk(std::uint32_t walk);
// The lines of all walks, but for those that begin like this.
void copy_json(Text& into, std::string_view without);

void write_no_json();
std::uint64_t size_of_json();

// Parts of an event, and what writes it.
void put_stack(Text&, Stack const&);
void put_race_repairs(Text&, Chain const& between);  // with the chain itself
void write_json(Text const& line);

void json_finding(Finding const&);
void json_uses(Finding const&);
void json_repairs(Finding const&);  // all, if there are more than the first
void json_old_read(Thread const&, AccessNote const&, std::uint64_t newest, weak::MissedWrites const&);
void json_race(RaceFinding const&);
// A fault ends the process: by this signal, at this address.
void json_crash(Thread const&, int signal, std::uintptr_t address, Stack const&);
void json_deadlock(scheduler::Blocked const* threads, std::size_t count);
void json_step_limit(std::uint64_t steps);
void json_no_schedules();
// An operation that the program makes, with the orders that it was compiled with.
void json_site(SiteKind, std::uintptr_t pc, Order order, Order failure);
void json_bad_sites(std::uint64_t line, std::string_view why);
void json_end(std::uint64_t findings, std::uint64_t repeated, int exit_code);

}  // namespace fencepost
