"""loSRA: strong release/acquire as a memory of what each thread may still read.

    sra-2020                here
    Def. 5.6                Option ⟨writer, cell, value, for an RMW⟩, OptionList, Potential
    Def. 5.7                potentials here are closed under sublists
    Def. 5.8, footnote 3    LoSraState, its initial potentials: any options of the initial writer
    Figure 4                written (WRITE), consumed (READ and the first half of RMW)

WRITE of x has one condition more than in our copy of the figure: no option on x stands in L1 … Ln. The list
of the writer that justifies them is one from before the write, so it may have such options, and a thread
could read the new write of x and then an older one. The proof of Lemma 5.15 needs the condition where it
keeps the old write for an option after a new one.

The rules guess: WRITE may add options to any list, LOWER may lose options and lists, copy lists, and READ
needs all lists of its thread to start alike. To run them, every guess that only adds is made at once:

- Losing never helps (⊑ is compatible with every step, Lemma 6.1), and WRITE looks at each list of the new
  state by itself. So of all outcomes of LOWER and WRITE there is a greatest one, the one with all lists that
  the rule lets in, and nothing is lost by taking it. Potentials are then closed under sublists.
- READ and RMW choose an option o. The greatest outcome of LOWER followed by them keeps what follows o in the
  lists that start with o. Each o is another successor.

That leaves the length of lists. Look at a run from its end, keeping only the options that it needs: a list is
empty at first; a read puts its option in front of the lists of its thread; a write takes options away, and
copies the rest of a list to its own thread. So a needed list is a part, in order, of the reads that the
threads do in the rest of the run. `_futures` has all such parts, for all runs from a program state, as pairs
of cell and flag, and lists that are not among them are left out. A loop-free program has finitely many.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from fencepost.models.explore import LimitReachedError, reachable
from fencepost.models.sra import SraLts
from fencepost.models.threads import Label, ThreadLts, Threads, ThreadState, moved
from fencepost.program import Program

INITIAL_WRITER = -1


class Option(NamedTuple):
    """`writer` wrote `value` to `cell`; if `rmw`, this is the mo-maximal write."""

    writer: int
    cell: int
    value: int
    rmw: bool


OptionList = tuple[Option, ...]
Potential = frozenset[OptionList]
Reads = tuple[tuple[int, bool], ...]  # of each read, in order, the cell and whether it is of an RMW


class LoSraState(NamedTuple):
    threads: Threads
    potentials: tuple[Potential, ...]


def reachable_program_states(
    program: Program, limit: int | None = None, most_lists: int | None = None
) -> set[Threads]:
    """For loop-free programs; raises `LimitReachedError` beyond `limit` states or `most_lists` in one."""
    return {state.threads for state in lo_sra_states(program, limit, most_lists)}


def lo_sra_states(
    program: Program, limit: int | None = None, most_lists: int | None = None
) -> Iterator[LoSraState]:
    machine = _Machine(SraLts(program), most_lists)
    return reachable(machine.initial_states(), machine.successors, limit)


def consumed(potential: Potential, option: Option) -> Potential:
    """READ, and the first half of RMW: what follows `option` where it stands in front."""
    return frozenset(options[1:] for options in potential if options[:1] == (option,))


def written(
    potentials: tuple[Potential, ...], thread: int, label: Label, wanted: frozenset[Reads]
) -> tuple[Potential, ...]:
    """WRITE: the greatest potentials after it whose lists are among `wanted`."""
    return tuple(
        frozenset(
            after
            for options in potential
            if _survives(options, label.cell, own=owner == thread)
            for after in _with_new_options(options, thread, label, potentials[thread], wanted)
        )
        for owner, potential in enumerate(potentials)
    )


def _survives(options: OptionList, cell: int, *, own: bool) -> bool:
    """The last two conditions of WRITE on L0 … Ln."""
    return not any(option.cell == cell and (own or option.rmw) for option in options)


def _with_new_options(
    options: OptionList, thread: int, label: Label, justifying: Potential, wanted: frozenset[Reads]
) -> Iterator[OptionList]:
    """Every L' with L0 … Ln = `options`, and L1 … Ln justified by the writing thread."""
    assert label.written is not None
    new = [Option(thread, label.cell, label.written, rmw) for rmw in (False, True)]

    def extend(before: OptionList, rest: OptionList, *, added: bool) -> Iterator[OptionList]:
        if reads_of(before) not in wanted:
            return
        if not rest:
            yield before
        else:
            yield from extend((*before, rest[0]), rest[1:], added=added)
        if added or (rest in justifying and not any(option.cell == label.cell for option in rest)):
            for option in new:
                yield from extend((*before, option), rest, added=True)

    return extend((), options, added=False)


def reads_of(options: OptionList) -> Reads:
    return tuple((option.cell, option.rmw) for option in options)


class _Machine:
    """The transition system of a program with the memory loSRA."""

    def __init__(self, lts: SraLts, most_lists: int | None) -> None:
        self.lts = lts
        self.most_lists = most_lists
        self._shuffles = cache(_shuffles)
        self._reads_left = cache(_reads_left)

    def initial_states(self) -> Iterator[LoSraState]:
        values = self.lts.initial_memory
        for threads in self.lts.initial_states():
            lists = frozenset(
                tuple(Option(INITIAL_WRITER, cell, values[cell], rmw) for cell, rmw in reads)
                for reads in self._futures(threads)
            )
            yield LoSraState(threads, (lists,) * len(threads))

    def successors(self, state: LoSraState) -> Iterator[LoSraState]:
        for thread, at in enumerate(state.threads):
            for label, successors, _ in self.lts.threads[thread].enabled(at):
                for successor in successors:
                    threads = moved(state.threads, thread, successor)
                    wanted = self._futures(threads)
                    for potentials in self._after(state.potentials, thread, label, wanted):
                        yield LoSraState(threads, potentials)

    def _after(
        self, potentials: tuple[Potential, ...], thread: int, label: Label, wanted: frozenset[Reads]
    ) -> Iterator[tuple[Potential, ...]]:
        for after in self._read(potentials, thread, label) if label.reads else (potentials,):
            done = written(after, thread, label, wanted) if label.writes else after
            kept = tuple(frozenset(L for L in potential if reads_of(L) in wanted) for potential in done)
            if self.most_lists is not None and sum(map(len, kept)) > self.most_lists:
                raise LimitReachedError(f"more than {self.most_lists} lists")
            yield kept

    def _read(
        self, potentials: tuple[Potential, ...], thread: int, label: Label
    ) -> Iterator[tuple[Potential, ...]]:
        own = potentials[thread]
        for option in {options[0] for options in own if options}:
            if (option.cell, option.value) == (label.cell, label.read) and (option.rmw or not label.writes):
                yield (*potentials[:thread], consumed(own, option), *potentials[thread + 1 :])

    def _futures(self, threads: Threads) -> frozenset[Reads]:
        """Every part, in order, of the reads that the threads can still do, interleaved."""
        futures = frozenset[Reads]({()})
        for part, at in zip(self.lts.threads, threads, strict=True):
            futures = self._shuffles(futures, self._reads_left(part, at))
        return futures


def _reads_left(part: ThreadLts, at: ThreadState) -> frozenset[Reads]:
    """Every part, in order, of the reads that the thread can do from `at` on, whatever they read."""
    found = frozenset[Reads]({()})
    for label, successors, _ in part.enabled(at):
        for successor in successors:
            rest = _reads_left(part, successor)
            found |= rest
            if label.reads:
                found |= {((label.cell, label.writes), *reads) for reads in rest}
    return found


def _shuffles(left: frozenset[Reads], right: frozenset[Reads]) -> frozenset[Reads]:
    return frozenset(reads for a in left for b in right for reads in _interleavings(a, b))


def _interleavings(a: Reads, b: Reads) -> Iterator[Reads]:
    if not a or not b:
        yield a + b
        return
    yield from ((a[0], *rest) for rest in _interleavings(a[1:], b))
    yield from ((b[0], *rest) for rest in _interleavings(a, b[1:]))
