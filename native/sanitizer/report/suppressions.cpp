#include "sanitizer/report/suppressions.hpp"

#include "sanitizer/report/findings.hpp"
#include "sanitizer/report/output.hpp"
#include "sanitizer/report/race_findings.hpp"
#include "sanitizer/report/report_text.hpp"
#include "sanitizer/report/symbols.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/modules.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {
namespace {

// `fencepost run` suppresses what ThreadSanitizer or the scheduler finds.
constexpr std::string_view robustness = "robustness:", race = "race:";
constexpr std::string_view others[] = {"threads:", "deadlock:"};

struct Pattern {
    std::string_view kind, text;
    Pattern* next;
};
Pattern* patterns;
Text* file_text;

std::string_view after(std::string_view text, std::size_t bytes) {
    return {text.data() + bytes, text.size() - bytes};
}

// Does the pattern match the beginning of the text? What follows a `*` is taken where it occurs first, which
// leaves most room for the rest: no earlier `*` is tried again, or many of them would take for ever.
bool matches_here(std::string_view pattern, std::string_view text) {
    constexpr std::size_t none = std::string_view::npos;
    std::size_t at = 0, star = none, tried = 0;  // in the text; the last `*`, and where its rest was tried
    for (std::size_t i = 0;;) {
        if (i == pattern.size()) return true;
        bool const end = pattern[i] == '$' && i + 1 == pattern.size();
        if (end && at == text.size()) return true;
        if (!end && pattern[i] == '*') {
            star = i++;
            tried = at;
        } else if (!end && at < text.size() && text[at] == pattern[i]) {
            ++i;
            ++at;
        } else {
            if (star == none || tried == text.size()) return false;
            at = ++tried;
            i = star + 1;
        }
    }
}

// `^` at the start and `$` at the end of a pattern stand for those of the text.
bool matches(std::string_view pattern, char const* text) {
    if (text == nullptr) return false;
    std::string_view const whole(text);
    bool const from_start = pattern.starts_with('^');
    if (from_start) pattern.remove_prefix(1);
    for (std::size_t i = 0; i <= (from_start ? 0 : whole.size()); ++i)
        if (matches_here(pattern, after(whole, i))) return true;
    return false;
}

bool matches_stack(std::string_view pattern, Stack const& stack) {
    for (std::size_t i = 0; i < stack.count; ++i) {
        if (matches(pattern, find_module(stack.frames[i] - 1).module)) return true;
        for (Symbol const* s = symbol_at(stack.frames[i]); s != nullptr; s = s->next)
            if (matches(pattern, s->function) || matches(pattern, s->line)) return true;
    }
    return false;
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

std::string_view without_blanks(std::string_view line) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    return line;
}

void read_line(std::string_view line) {
    line = without_blanks(line);
    if (line.empty() || line[0] == '#') return;
    for (std::string_view const other : others)
        if (line.starts_with(other) && line.size() > other.size()) return;
    std::string_view const kind = line.starts_with(race) ? race : robustness;
    if (!line.starts_with(kind) || line.size() == kind.size()) {
        Text warning;
        warning << "fencepost: " << options.suppressions << ": expected robustness:PATTERN, found "
                << Quoted{line} << "\n";
        warning.write_to(2);
        return;
    }
    auto* const pattern = static_cast<Pattern*>(memory::allocate(sizeof(Pattern)));
    *pattern = {kind, after(line, kind.size()), patterns};
    patterns = pattern;
}

}  // namespace

void read_suppressions() {
    if (options.suppressions == nullptr) return;
    file_text = new (memory::allocate(sizeof(Text))) Text;
    if (!read_file(options.suppressions, *file_text)) {
        Text warning;
        warning << "fencepost: cannot read the suppressions " << options.suppressions << "\n";
        warning.write_to(2);
        return;
    }
    for (std::string_view rest = file_text->view(); !rest.empty();) {
        std::size_t const end = rest.find('\n');
        std::size_t const length = end < rest.size() ? end : rest.size();
        read_line({rest.data(), length});
        rest.remove_prefix(length < rest.size() ? length + 1 : length);
    }
}

namespace {

bool some_pattern_matches(std::string_view kind, Stack const& by, Stack const& other,
                          std::uintptr_t address) {
    for (Pattern const* p = patterns; p != nullptr; p = p->next)
        if (p->kind == kind && (matches_stack(p->text, by) || matches_stack(p->text, other) ||
                                matches(p->text, name_of_global(address))))
            return true;
    return false;
}

// Headers of libstdc++ with locations of their own. The same as INTERNALS in answer/suppressions.py.
constexpr std::string_view internals[] = {
    "atomic_wait.h",
    "atomic_timed_wait.h",
    "atomic_futex.h",
    "semaphore_base.h",
    "semaphore",
    "barrier",
    "latch",
    "stop_token",
    "shared_ptr_base.h",
    "shared_ptr_atomic.h",
    "atomicity.h",
};

bool is_in_internals(std::string_view line) {
    std::size_t const slash = line.rfind('/'), colon = line.rfind(':');
    if (slash == line.npos || colon == line.npos || colon < slash || line.find("/c++/") == line.npos)
        return false;
    std::string_view const header(line.data() + slash + 1, colon - slash - 1);
    for (std::string_view const one : internals)
        if (header == one) return true;
    return false;
}

// Is the access made inside of one, from the innermost call to the first outside of the compiler's headers?
bool is_internal(Stack const& stack) {
    for (std::size_t i = 0; i < stack.count; ++i)
        for (Symbol const* s = symbol_at(stack.frames[i]); s != nullptr; s = s->next) {
            if (s->line == nullptr) continue;
            if (!comes_with_the_compiler(s->line)) return false;
            if (is_in_internals(s->line)) return true;
        }
    return false;
}

}  // namespace

bool is_suppressed(Finding const& f) {
    if (!options.internals && matches("__waiter_pool_base", name_of_global(f.note.address))) return true;
    // `fencepost run`, which has no report written here, looks for internals itself.
    bool const asks_internals = !options.internals && !options.quiet;
    if (patterns == nullptr && !asks_internals) return false;
    symbolise(f);
    if (asks_internals && is_internal(f.by) && is_internal(f.missed)) return true;
    return some_pattern_matches(robustness, f.by, f.missed, f.note.address);
}

bool is_suppressed(RaceFinding const& f) {
    if (patterns == nullptr) return false;
    symbolise(f);
    return some_pattern_matches(race, f.by.stack, f.other.stack, f.address);
}

}  // namespace fencepost
