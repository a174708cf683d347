"""From a C litmus test, as herd reads it, to a `Program`.

Puts the parts together and reads the heads of the processes: process Pn becomes the thread of that name, its
pointer parameters become locations. The header and comments are left to `header.py`, syntax to
`parser.py`, bodies to `lowering.py`, initial values and the final condition to the files of
that name, and the choice of the value domain to `values.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from fencepost.errors import InputError
from fencepost.formats.litmus.clauses import (
    InitialLocation,
    check_number_type,
    final_condition,
    initial_values,
    is_atomic_type,
    map_values,
    process_name,
)
from fencepost.formats.litmus.header import bare
from fencepost.formats.litmus.lowering import lower
from fencepost.formats.litmus.parser import parse
from fencepost.formats.litmus.scope import LARGEST_NUMBER, TREATMENTS, Accesses, Scope, in_order
from fencepost.formats.litmus.values import Domain, Numbers, domain_of, to_program
from fencepost.formats.text.source import Source, normal_lines, quoted
from fencepost.formats.text.tree import Token, Tree, position, tokens, trees
from fencepost.program import (
    LARGEST_MAX_VALUE,
    Assign,
    Constant,
    Location,
    Position,
    Program,
    Thread,
    Unary,
)
from fencepost.program.conditions import FinalCondition, atoms


def read(text: str, file: str = "<text>", *, treat_sc_as: str | None = None) -> Program:
    """The program that the C litmus test `text` spells; raises `InputError`.

    `treat_sc_as` says what becomes of seq_cst accesses for models that do not have them: "acq-rel" lets them
    acquire and release, "fence" puts a seq_cst fence before them too. With None they stay what they are.
    """
    if treat_sc_as not in (None, *TREATMENTS):
        message = f"--treat-sc-as is {quoted(str(treat_sc_as))}; expected {' or '.join(TREATMENTS)}"
        raise InputError(message, file)
    source = Source(normal_lines(text), file)
    if not source.text.strip():
        raise InputError("the file is empty; expected a program", file, 1, 1)
    content, max_value = bare(source)
    return _Test(source, parse(source, content), treat_sc_as, max_value).program()


class _Test:
    def __init__(self, source: Source, tree: Tree, treat_sc_as: str | None, max_value: int | None) -> None:
        self._source = source
        self._tree = tree
        self._treat_sc_as = treat_sc_as
        self._max_value = max_value
        self._largest = LARGEST_NUMBER if max_value is None else LARGEST_MAX_VALUE
        self._initial = initial_values(source, trees(tree, "initial")[0], self._largest)
        self._accesses = Accesses()

    def program(self) -> Program:
        processes = self._processes()
        parameters = {name: self._parameters(name, node) for name, node in processes.items()}
        scopes = [self._lowered(name, node, parameters[name]) for name, node in processes.items()]
        self._accesses.check(self._source)
        registers = {scope.process: scope.registers for scope in scopes}
        locations = self._initial.locations
        asked = final_condition(self._source, self._tree, registers, locations.keys(), self._largest)
        codes = tuple(scope.code.code() for scope in scopes)
        compared = () if asked is None else tuple(atom.value for atom in atoms(asked.formula))
        initial = {name: location.value for name, location in locations.items()}
        domain = self._domain(Numbers(codes, initial, compared))
        return Program(
            locations=tuple(self._location(name, location, domain) for name, location in locations.items()),
            threads=tuple(
                Thread(
                    scope.process,
                    to_program(code, number, domain),
                    in_order(dict.fromkeys((*scope.registers.values(), *scope.code.made_up()))),
                    at=position(processes[scope.process]),
                )
                for number, (scope, code) in enumerate(zip(scopes, codes, strict=True))
            ),
            max_value=domain.max_value,
            condition=None if asked is None else self._in_domain(asked, domain),
            file=self._source.file,
            source=self._source.text,
            format="litmus",
        )

    # Values.

    def _domain(self, numbers: Numbers) -> Domain:
        return domain_of(numbers) if self._max_value is None else Domain(self._max_value, False, ())

    def _location(self, name: str, location: InitialLocation, domain: Domain) -> Location:
        self._check_value(location.value, domain, location.at)
        plain = name in self._accesses.plain
        atomic = name in self._accesses.atomic or (not plain and self._initial.atomic.get(name, True))
        return Location(name, (location.value % (domain.max_value + 1),), atomic, at=location.at)

    def _in_domain(self, asked: FinalCondition, domain: Domain) -> FinalCondition:
        stored: dict[int, int] = {}
        for atom in atoms(asked.formula):
            self._check_value(atom.value, domain, asked.at)
            stored[atom.value] = atom.value % (domain.max_value + 1)
        return replace(asked, formula=map_values(asked.formula, stored))

    def _check_value(self, value: int, domain: Domain, at: Position) -> None:
        if value > domain.max_value:
            raise self._source.error(f"the number {value} is larger than MaxValue={domain.max_value}", at)

    # Processes.

    def _processes(self) -> dict[str, Tree]:
        processes: dict[str, Tree] = {}
        for node in trees(self._tree, "process"):
            (token,) = tokens(node, "NAME")
            name = process_name(self._source, token)
            if name in processes:
                raise self._source.error(f"process {name} is defined twice", position(token))
            processes[name] = node
        if not processes:
            end = self._source.position(len(self._source.text.rstrip()))
            raise self._source.error("the test has no process; expected `P0(atomic_int* x) { … }`", end)
        for register in self._initial.registers.values():
            if register.process not in processes:
                raise self._source.error(f"there is no process {register.process}", position(register.name))
        return processes

    def _parameters(self, process: str, node: Tree) -> dict[str, bool]:
        """Whether each parameter points to an atomic; all of them are locations from here on."""
        parameters: dict[str, bool] = {}
        nodes = trees(node, "parameter")
        if len(nodes) == 1 and [list(kind.children) for kind in trees(nodes[0], "type")] == [["void"]]:
            nodes = [] if len(nodes[0].children) == 1 else nodes
        for parameter in nodes:
            name, atomic = self._parameter(parameter)
            if name in parameters:
                raise self._source.error(f"{quoted(name)} is a parameter of {process} twice", position(name))
            parameters[str(name)] = atomic
            self._initial.locations.setdefault(str(name), InitialLocation(0, position(name)))
            self._initial.atomic[str(name)] = atomic or self._initial.atomic.get(name, False)
        return parameters

    def _parameter(self, node: Tree) -> tuple[Token, bool]:
        names, stars, (kind,) = tokens(node, "NAME"), tokens(node, "STAR"), trees(node, "type")
        if not names:
            raise self._source.error("expected the name of the parameter", position(node))
        form = f"as in `atomic_int* {names[0]}`"
        if not stars:
            message = f"{quoted(names[0])} is no pointer; parameters point to locations, {form}"
            raise self._source.error(message, position(names[0]))
        if len(stars) > 1 or trees(node, "dimension"):
            message = f"pointers to pointers and arrays are not supported; expected a location, {form}"
            raise self._source.error(message, position(node))
        check_number_type(self._source, kind, "a location")
        return names[0], is_atomic_type(kind)

    def _lowered(self, process: str, node: Tree, parameters: Mapping[str, bool]) -> Scope:
        registers = [register for register in self._initial.registers.values() if register.process == process]
        scope = Scope(
            self._source,
            process,
            parameters=parameters,
            locations=self._initial.locations.keys(),
            words={*_words(node), *(str(register.name) for register in registers)},
            accesses=self._accesses,
            treat_sc_as=self._treat_sc_as,
            largest_number=self._largest,
        )
        for register in registers:
            name, value = scope.declare(register.name), Constant(abs(register.value))
            if register.value:
                initial = value if register.value > 0 else Unary("-", value)
                scope.code.add(Assign(name, initial, at=position(register.name)))
        lower(scope, trees(node, "block")[0])
        return scope


def _words(node: Tree) -> set[str]:
    return {str(child) for tree in node.subtrees() for child in tree.children if isinstance(child, str)}
