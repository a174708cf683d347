"""The same states under TSO: what threads have yet to read, and what cells hold.

The check is over the dual machine (`models.dual_tso`), which reaches the same program states and final
memories as the one with store buffers. Each thread has one list o(t), and cells have values m. A state
⟨p̄, m, o⟩ *matches* one of the machine if threads stand at p̄, cells hold m, and each thread t can do the reads
of o(t) in this order, some from its load buffer as it is, and the others after memory, as it is now, has been
propagated to it. The step of the machine that propagates a value, or deletes a message, matches the same
states before as after. The others, by what matches after them (y is any other cell than x):

    step of t         what matches before it
    R(x, v)           (x, v) in front of o(t): reading changes no buffer
    W(x, v)           m(x) is v or open, and is open before. t only finds v in x, in its newest message or in
                      memory: o(t) without its reads of x. Any other thread can do all reads of its list, or
                      those up to the first for which it needs the new value in memory: what is read from
                      there on is in memory, and what is not of x was there before
    RMW(x, r, w)      the buffer of t is empty: all of o(t) is in memory. Then as W(x, w) for the others, and
                      m(x) is r
    SC fence          the buffer of t is empty: all of o(t) is in memory

In the beginning buffers are empty, so just those states match in which everything has its initial value.

Runs are followed in blocks, as under SRA (`blocks`): a read changes no buffer, so it can be put off past what
other threads do. The same goes for a thread that stands anywhere: its list is empty, and what it does last is
asked for only if its write is.

What is possible under SRA (`possible`) holds here as well. A run of the machine, with the reads of o(t) done
at its end, is one of TSO, and its graph is one that SRA allows: program order, reads-from and modification
order go along with the order in which writes reach memory. So for some choice of the writers each list o(t)
is one of SRA, and what m says is the last write of each cell.

Options are those of SRA with the first of all writers of a value in place of any: R in o, U in m.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.certificates.bad import Bad
from fencepost.certificates.blocks import Nodes
from fencepost.certificates.local_graphs import Edge
from fencepost.certificates.option_lists import EMPTY, INITIAL_WRITER, Options, Potential, R, U
from fencepost.certificates.possible import Potentials
from fencepost.certificates.states import States

Memory = dict[int, int]  # cell -> source of its value
MEMORY, FENCES = -2, -1  # where potentials have what cells hold, and nothing under TSO


class TsoStates(States):
    failing_cas_writes = True

    def source(self, writer: int, cell: int, value: int) -> int | None:
        """The same for every writer."""
        return next(iter(self.sources.of_value.get((cell, value), ())), None)

    def writer_shown(self, source: int) -> int:
        return INITIAL_WRITER

    def _is_initial_option(self, option: int) -> bool:
        _, cell, value = self.sources.all[option >> 2]
        return value == self.program.initial_memory[cell]

    def _bad_potentials(self, bad: Bad) -> Iterator[Potentials]:
        memory: Memory = {}
        for cell, value in bad.memory:
            source = self.source(INITIAL_WRITER, cell, value)
            if source is None or not _holds(memory, cell, source):
                return
        yield (*[(EMPTY,)] * len(self.graphs), self._written(memory), (EMPTY,))

    # Steps back.

    def _before(self, potentials: Potentials, thread: int, edge: Edge) -> Iterator[Potentials]:
        reads = [self._reads(potential) for potential in potentials[:MEMORY]]
        memory = self._memory(potentials)
        match edge.kind:
            case "R":
                reads[thread] = (self._option(edge.cell, edge.read), *reads[thread])
            case "W":
                return self._before_write(reads, memory, thread, edge)
            case "RMW" | "fence":
                if not self._all_in_memory(reads[thread], memory):
                    return iter(())
                reads[thread] = ()
                if edge.kind == "RMW":
                    return self._before_write(reads, memory, thread, edge)
        return iter([self._potentials(reads, memory)])

    def _before_write(
        self, reads: Sequence[Options], memory: Memory, thread: int, edge: Edge
    ) -> Iterator[Potentials]:
        written = self._option(edge.cell, edge.written)
        own = [option for option in reads[thread] if self._cell(option) == edge.cell]
        if any(option != written for option in own) or not _holds(memory, edge.cell, written >> 2):
            return
        kept = tuple(option for option in reads[thread] if self._cell(option) != edge.cell)
        for others, held in self._cuts(reads, memory, thread, written):
            before = [kept if u == thread else some for u, some in enumerate(others)]
            del held[edge.cell]
            if edge.kind == "RMW":
                held[edge.cell] = self._option(edge.cell, edge.read) >> 2
            yield self._potentials(before, held)

    def _cuts(
        self, reads: Sequence[Options], memory: Memory, thread: int, written: int
    ) -> Iterator[tuple[list[Options], Memory]]:
        """What each other thread can have had to read before the write, with what memory holds then."""
        if not reads:
            yield [], dict(memory)
            return
        *first, last = reads
        holder = len(first)
        for others, held in self._cuts(first, memory, thread, written):
            yield [*others, last], dict(held)
            for place, option in enumerate(last):
                more = dict(held)
                if holder != thread and option == written and self._all_in_memory(last[place:], more):
                    yield [*others, last[:place]], more

    # What can be.

    def _can_match(self, nodes: Nodes, potentials: Potentials) -> bool:
        observer = len(self.graphs)
        return all(
            any(self._possible.option(nodes, observer, 4 * s + U) for s in self._same_value(source))
            for source in self._memory(potentials).values()
        ) and all(
            self._can_read(nodes, thread, (), self._reads(potential))
            for thread, potential in enumerate(potentials[:MEMORY])
        )

    def _can_read(self, nodes: Nodes, thread: int, done: Options, reads: Options) -> bool:
        """Whether the thread can do the reads after those in `done`, for some choice of the writers."""
        if not reads:
            return True
        for source in self._same_value(reads[0] >> 2):
            longer = (*done, 4 * source + R)
            alone = (*[(EMPTY,)] * thread, (self.lists.number(longer),))
            if self._possible.state(nodes, alone) and self._can_read(nodes, thread, longer, reads[1:]):
                return True
        return False

    def _same_value(self, source: int) -> list[int]:
        _, cell, value = self.sources.all[source]
        return self.sources.of_value[cell, value]

    # Potentials and what they say.

    def _option(self, cell: int, value: int) -> int:
        return 4 * self.sources.of_value[cell, value][0] + R

    def _cell(self, option: int) -> int:
        return self.sources.all[option >> 2].cell

    def _reads(self, potential: Potential) -> Options:
        return self.lists.all[potential[0]]

    def _memory(self, potentials: Potentials) -> Memory:
        options = (option for number in potentials[MEMORY] for option in self.lists.all[number])
        return {self._cell(option): option >> 2 for option in options}

    def _all_in_memory(self, reads: Options, memory: Memory) -> bool:
        """Whether memory can hold all that is read; then it does."""
        return all(_holds(memory, self._cell(option), option >> 2) for option in reads)

    def _potentials(self, reads: Sequence[Options], memory: Memory) -> Potentials:
        return (*((self.lists.number(some),) for some in reads), self._written(memory), (EMPTY,))

    def _written(self, memory: Memory) -> Potential:
        return self.lists.longest(
            frozenset(self.lists.number((4 * source + U,)) for source in memory.values())
        )


def _holds(memory: Memory, cell: int, source: int) -> bool:
    """Whether the cell can hold this; then it does."""
    return memory.setdefault(cell, source) == source
