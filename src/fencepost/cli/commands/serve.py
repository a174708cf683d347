"""`fencepost serve`: the playground in the browser."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from fencepost.cli.console import fail
from fencepost.cli.options import Amount
from fencepost.errors import missing_extra

if TYPE_CHECKING:
    from fencepost.playground.searches import Allowed

_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="The port to listen at; 0 takes any that is free.",
)
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="Another name by which browsers may call the playground, with its port if that differs.",
)
@click.option(
    "--max-running",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    metavar="N",
    help="Searches at the same time.",
)
@click.option(
    "--timeout",
    type=Amount(min=1),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="Time limit per search.",
)
@click.option(
    "--max-memory",
    type=Amount(min=16),
    default=2048,
    show_default=True,
    metavar="MB",
    help="Memory limit per search.",
)
def serve(
    *, host: str, port: int, names: tuple[str, ...], max_running: int, timeout: float, max_memory: float
) -> None:
    """Open the playground: write programs in the browser, ask about them, and repair them.

    Listens on this machine only, unless told otherwise. Needs the packages of the extra `web`.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        fail(str(missing_extra("web", "fencepost serve needs more packages")))
    from fencepost.playground.searches import Allowed

    try:
        listening = _listen(host, port)
    except OSError as error:
        fail(f"cannot listen at {host}, port {port}: {error.strerror or error}")
    allowed = Allowed(running=max_running, seconds=timeout, memory_mb=max_memory)
    _serve(listening, _hosts(host, listening.getsockname()[1], names), allowed)


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(address)
    return listening


def _hosts(host: str, port: int, names: tuple[str, ...]) -> list[str]:
    """What the `Host` of a request may be; the first one is printed as the address."""
    own = f"[{host}]" if ":" in host else host
    hosts = [f"{name}:{port}" for name in (own, *_LOCAL_NAMES)]
    hosts += [name.removesuffix(":80") for name in hosts if name.endswith(":80")]
    return [*hosts, *names, *(f"{name}:{port}" for name in names)]


def _serve(listening: socket.socket, hosts: list[str], allowed: Allowed) -> None:
    import uvicorn

    from fencepost.playground.app import application

    config = uvicorn.Config(
        application(hosts, allowed),
        http="h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        server_header=False,
        limit_concurrency=200,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
    )
    click.echo(f"The playground is at http://{hosts[0]}/ (Ctrl-C ends it).")
    with suppress(KeyboardInterrupt):  # raised once more when all is closed
        uvicorn.Server(config).run(sockets=[listening])
