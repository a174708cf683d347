"""`fencepost check-certificate`: is the proof of a safe or a robust answer right?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import click

from fencepost.cli.console import exit_on_input_error
from fencepost.cli.options import exit_codes, input_options, property_options
from fencepost.memory_models import EXIT_HOLDS, EXIT_VIOLATED

if TYPE_CHECKING:
    from fencepost.certificates import Checked, Refuted
    from fencepost.certificates.any_number import ViewsChecked
    from fencepost.cli.options import GivenProperty
    from fencepost.formats import Reading


@click.command(name="check-certificate", epilog=exit_codes())
@click.argument("file", metavar="FILE", type=click.Path())
@click.argument("certificate", metavar="CERTIFICATE", type=click.Path())
@property_options
@input_options
def check_certificate(*, file: str, certificate: str, given: GivenProperty, reading: Reading) -> NoReturn:
    """Is the proof of a safe answer, or of robustness for every number of threads, right?

    CERTIFICATE was written by `fencepost verify FILE --certificate CERTIFICATE`, for SRA or TSO. The check
    is a small program of its own that shares nothing with the search but reading FILE: it checks that the
    states in the certificate include every bad state, no initial state, and every state that leads to one of
    them. Or it was written by `fencepost robust`, for a program with `[*]`: then its views must include all
    starts and everything that a step leads to, and none may violate robustness.
    """
    result = exit_on_input_error(lambda: _checked(file, certificate, given, reading))
    from fencepost.certificates import Checked
    from fencepost.certificates.any_number import ViewsChecked

    if isinstance(result, ViewsChecked):
        proves = ", ".join(["robust", *(f"no {what}" for what in result.free_of)])
        click.echo(
            f"{certificate}: right for every number of threads: {proves} (views: {result.views:,}, "
            f"looked at together: {result.wholes:,})"
        )
        sys.exit(EXIT_HOLDS)
    if isinstance(result, Checked):
        click.echo(
            f"{certificate}: right (states: {result.basis:,}, bad states: {result.bad:,}, "
            f"predecessors: {result.predecessors:,})"
        )
        sys.exit(EXIT_HOLDS)
    click.echo(f"{certificate}: wrong: {result.reason}")
    sys.exit(EXIT_VIOLATED)


def _checked(
    file: str, certificate: str, given: GivenProperty, reading: Reading
) -> Checked | ViewsChecked | Refuted:
    from fencepost.certificates import check, decode
    from fencepost.certificates.any_number import check_views, decode_views, is_view_certificate
    from fencepost.certificates.question import bad_states, registers_asked_for
    from fencepost.errors import InputError, read_bytes
    from fencepost.formats import given_input, load_as
    from fencepost.formats.properties import both, given_property, stated_property
    from fencepost.program.properties import marked

    name, text = given_input(file, reading)
    program = load_as(name, reading, text)
    data = read_bytes(certificate, "the certificate")
    if is_view_certificate(data):
        if any(given):
            message = "this certificate is about robustness; leave out the options that say what else is bad"
            raise InputError(message, certificate)
        return check_views(program, decode_views(data, certificate))
    wanted = both(stated_property(program), given_property(program, **given._asdict()))
    asked = marked(program, wanted).program
    return check(
        asked, decode(data, certificate), bad_states(asked, wanted), registers_asked_for(asked, wanted)
    )
