// Going back to where an execution begins, in the same process: sooner than forking another one.
//
//   memory     All private pages are what a fork of this process, the keeper, has. The kernel makes a page
//              that is written for the first time since then a page of this process's own, and counts that as
//              a fault of the thread. If the count has not changed since the last execution, only pages are
//              changed that are known, and these are copied back. If it has, the new pages are found by the
//              kernel's map of pages, and the keeper, whose pages are as they were, copies them to memory
//              that both share.
//   registers  are those at the call of `begin`. Threads of the program are lent kernel threads (lending.hpp)
//              that never run, so the one that runs all of them goes back alone.
//   the rest   A filter of system calls tells of every call that changes what the kernel keeps for the
//              process, or may do so: files, mappings, signal handlers, processes, … An execution that makes
//              one is its process's last.
//
// What lies in shared memory stays as it is, as it would with fork.
#pragma once

namespace fencepost::scheduler::restart {

// In a new process, while it has no threads but those lent. Returns as often as an execution begins; where
// the kernel or the processor does not let it be, once.
void begin();

// May the execution that ends here be followed by another in this process?
bool is_possible();

// Calls `between` on a stack of its own, then returns from `begin`. Returns here, with nothing done, if it
// turns out that the pages which the execution has changed cannot be known.
void go_back(void (*between)());

// Calls `action` on that stack: it leaves no traces on the program's own.
void on_own_stack(void (*action)());

// System calls of the library's own that are taken back, or that nobody notices, while this lives.
class OwnCalls {
  public:
    OwnCalls();
    ~OwnCalls();
    OwnCalls(OwnCalls const&) = delete;
    OwnCalls& operator=(OwnCalls const&) = delete;

  private:
    bool outer_;
};

// Is it known that this process has no kernel threads but those that it began with?
bool no_thread_was_made();
// Kernel threads that have been made here.
unsigned own_threads();

}  // namespace fencepost::scheduler::restart
