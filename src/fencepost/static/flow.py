"""Where can control go from an instruction, what can be reached, and what is in a loop?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from fencepost.program import Instruction, falls_through, jump_targets

Node = TypeVar("Node", bound=Hashable)


def successors(instruction: Instruction, pc: int) -> tuple[int, ...]:
    """The places that can come right after the instruction at `pc`; the length of the code is the end."""
    targets = jump_targets(instruction)
    return (*targets, pc + 1) if falls_through(instruction) else targets


def reachable(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """The nodes to which steps lead from the first ones, those included."""
    reached: set[Node] = set()
    todo = list(starts)
    while todo:
        node = todo.pop()
        if node not in reached:
            reached.add(node)
            todo += following(node)
    return reached


def components(edges: Mapping[Node, Iterable[Node]]) -> dict[Node, int]:
    """A number for each node, the same for two nodes that can be reached from each other.

    Tarjan's method, with a stack of its own: code can be deeper than Python can recurse.
    """
    component: dict[Node, int] = {}
    order: dict[Node, int] = {}
    low: dict[Node, int] = {}
    open_nodes: list[Node] = []
    path: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        order[node] = low[node] = len(order)
        open_nodes.append(node)
        path.append((node, iter(edges.get(node, ()))))

    for start in edges:
        if start not in order:
            enter(start)
        while path:
            node, following = path[-1]
            target = next((target for target in following if target not in component), None)
            if target is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    while node not in component:
                        component[open_nodes.pop()] = order[node]
            elif target in order:
                low[node] = min(low[node], order[target])
            else:
                enter(target)
    return component


def loops(edges: Mapping[Node, Iterable[Node]]) -> list[set[Node]]:
    """The largest sets of nodes that can all be reached from each other by one step or more."""
    parts: dict[int, set[Node]] = {}
    for node, number in components(edges).items():
        parts.setdefault(number, set()).add(node)
    return [part for part in parts.values() if len(part) > 1 or part & set(edges.get(next(iter(part)), ()))]


def control_flow(code: Sequence[Instruction]) -> dict[int, set[int]]:
    """The instructions after each instruction; the end is left out."""
    return {pc: set(successors(instruction, pc)) - {len(code)} for pc, instruction in enumerate(code)}


def in_loops(code: Sequence[Instruction]) -> set[int]:
    """The instructions that can run more than once."""
    return set[int]().union(*loops(control_flow(code)))


def loop_depths(code: Sequence[Instruction]) -> list[int]:
    """How many loops each instruction is in, one inside the other.

    The loops inside a loop are what is left when no jump leads to its first instruction any more.
    """
    depths = [0] * len(code)
    todo = [control_flow(code)]
    while todo:
        edges = todo.pop()
        for loop in loops(edges):
            for pc in loop:
                depths[pc] += 1
            todo.append({pc: (edges[pc] & loop) - {min(loop)} for pc in loop})
    return depths
