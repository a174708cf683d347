// Lists of read options against plain vectors of them, and their order against its definition: one list is
// below another if it is left when some options of the other are dropped and some flags are weakened to R.
//
// links: engine/safety/option_lists.cpp engine/safety/sources.cpp engine/state/layout.cpp
#include "engine/safety/option_lists.hpp"

#include <map>
#include <vector>

#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

using Plain = std::vector<Option>;
constexpr std::uint32_t cells = 3;

// One thread that can write 1 and 2 to each cell, over and over.
ThreadGraphs writer_of_everything() {
    ThreadGraphs graphs;
    auto& thread = graphs.threads.emplace_back();
    thread.nodes.resize(1);
    thread.initial = {0};
    thread.in.resize(1);
    thread.out.resize(1);
    for (std::uint32_t x = 0; x < cells; ++x) {
        graphs.initial.push_back(0);
        for (Value v : {1, 2}) {
            auto const number = static_cast<std::uint32_t>(thread.edges.size());
            thread.edges.push_back({0, 0, number, {LabelKind::write, x, 0, v}});
            thread.in[0].push_back(number);
            thread.out[0].push_back(number);
        }
    }
    return graphs;
}

struct World {
    ThreadGraphs graphs = writer_of_everything();
    Sources sources{graphs};
    OptionLists lists{sources};
    Chance chance;

    explicit World(std::uint64_t seed) : chance(seed) {}

    Plain random_list(std::size_t longest) {
        Plain list;
        for (auto length = chance.below(longest + 1); length > 0; --length)
            list.emplace_back(chance.below(sources.size()), static_cast<Flag>(chance.below(3)));
        return list;
    }
    Plain plain(ListNumber n) const { return {lists[n].begin(), lists[n].end()}; }
    std::uint32_t cell(Option o) const { return sources[o.source()].cell; }
};

void equal_lists_have_one_number(World& world) {
    std::map<std::vector<std::uint32_t>, ListNumber> numbers;
    std::vector<Plain> all;
    for (int i = 0; i < 4000; ++i) {
        auto const list = world.random_list(4);
        std::vector<std::uint32_t> packed;
        for (auto o : list) packed.push_back(o.packed);
        auto const number = world.lists.number(list);
        auto const [known, is_new] = numbers.try_emplace(packed, number);
        CHECK(known->second == number);
        CHECK(!is_new || number == all.size());
        if (is_new) all.push_back(list);
    }
    for (ListNumber n = 0; n < all.size(); ++n) CHECK(world.plain(n) == all[n]);
}

bool is_below(Plain const& a, std::size_t i, Plain const& b, std::size_t j) {
    if (i == a.size()) return true;
    if (j == b.size()) return false;
    bool const matches =
        a[i].source() == b[j].source() && (a[i].flag() == Flag::R || a[i].flag() == b[j].flag());
    return (matches && is_below(a, i + 1, b, j + 1)) || is_below(a, i, b, j + 1);
}

void order_is_its_definition(World& world) {
    for (int i = 0; i < 3000; ++i) {
        auto const b = world.random_list(6);
        auto a = world.random_list(3);
        if (world.chance.one_in(2)) {  // mostly below b
            a.clear();
            for (auto o : b) {
                if (world.chance.one_in(2)) continue;
                a.emplace_back(o.source(), world.chance.one_in(2) ? Flag::R : o.flag());
            }
        }
        CHECK(is_subsequence(a, b) == is_below(a, 0, b, 0));
    }
}

// What a write takes from a list, and what it leaves, counted from the end of the list.
void writes_take_the_last_options(World& world) {
    for (int i = 0; i < 2000; ++i) {
        auto const list = world.random_list(7);
        auto const n = world.lists.number(list);
        auto const x = world.chance.below(cells);
        std::vector<std::size_t> on_cell;  // places of the options on the cell
        for (std::size_t k = 0; k < list.size(); ++k) {
            if (world.cell(list[k]) == x) on_cell.push_back(k);
        }
        CHECK(world.lists.on_cell(n, x) == on_cell.size());
        auto const source = world.sources.by(0, x, 1 + world.chance.below(2));
        std::size_t most = 0, least = 0;
        for (std::size_t k = 0; k < on_cell.size(); ++k) {
            auto const option = list[on_cell[on_cell.size() - 1 - k]];
            if (most == k && option.source() == source && option.flag() != Flag::S) most = k + 1;
            if (option.flag() == Flag::U) least = k + 1;
        }
        CHECK(world.lists.taken_at_most(n, x, source) == most);
        CHECK(world.lists.taken_at_least(n, x) == least);
        for (std::size_t taken = 0; taken <= on_cell.size(); ++taken) {
            auto const stays = on_cell.size() - taken;
            auto const begin = taken == 0 ? list.size() : on_cell[stays];
            Plain left, justified;
            for (std::size_t k = 0; k < list.size(); ++k) {
                bool const is_on = world.cell(list[k]) == x;
                if (!is_on) left.push_back(list[k]);
                if (is_on && k < begin)
                    left.emplace_back(list[k].source(), list[k].flag() == Flag::S ? Flag::R : list[k].flag());
                if (!is_on && k > begin) justified.push_back(list[k]);
            }
            CHECK(world.plain(world.lists.without(n, x, taken)) == left);
            CHECK(world.plain(world.lists.justification(n, x, taken)) == justified);
        }
        Option const first(source, Flag::U);
        auto preceded = list;
        preceded.insert(preceded.begin(), first);
        CHECK(world.plain(world.lists.preceded(first, n)) == preceded);
    }
}

void only_maximal_lists_stay(World& world) {
    for (int i = 0; i < 1000; ++i) {
        Potential all;
        for (auto count = world.chance.below(8); count > 0; --count)
            all.push_back(world.lists.number(world.random_list(4)));
        Potential kept = all;
        keep_longest(kept, world.lists);
        auto const below = [&](ListNumber a, ListNumber b) {
            return is_below(world.plain(a), 0, world.plain(b), 0);
        };
        for (auto a : kept) {
            CHECK(std::ranges::count(all, a) > 0 && std::ranges::count(kept, a) == 1);
            for (auto b : kept) CHECK(a == b || !below(a, b));
        }
        for (auto a : all) {
            CHECK(world.lists[a].empty() || std::ranges::any_of(kept, [&](auto b) { return below(a, b); }));
        }
    }
}

}  // namespace

int main() {
    World first(1);
    equal_lists_have_one_number(first);
    World world(2);
    order_is_its_definition(world);
    writes_take_the_last_options(world);
    only_maximal_lists_stay(world);
}
