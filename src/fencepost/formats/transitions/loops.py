"""Which transitions of an automaton can be taken more than once?"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.formats.transitions.form import Automaton, State, Transition


def outside_loops(automaton: Automaton) -> list[Transition]:
    """The transitions after which there is no way back to the state they leave."""
    loops = _components(automaton)
    return [t for t in automaton.transitions if loops.get(t.source) != loops.get(t.target)]


def _components(automaton: Automaton) -> dict[State, int]:
    """The number of the strongly connected part that each state is in; Tarjan's method, with a stack."""
    leaving = automaton.leaving()
    component: dict[State, int] = {}
    order: dict[State, int] = {}
    low: dict[State, int] = {}
    open_states: list[State] = []
    path: list[tuple[State, Iterator[Transition]]] = []

    def enter(state: State) -> None:
        order[state] = low[state] = len(order)
        open_states.append(state)
        path.append((state, iter(leaving.get(state, ()))))

    for start in leaving:
        if start not in order:
            enter(start)
        while path:
            state, following = path[-1]
            target = next((t.target for t in following if t.target not in component), None)
            if target is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[state])
                if low[state] == order[state]:
                    while state not in component:
                        component[open_states.pop()] = order[state]
            elif target in order:
                low[state] = min(low[state], order[target])
            else:
                enter(target)
    return component
