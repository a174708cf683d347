"""Puts CodeMirror, the editor of the playground, into a directory: one script per npm package.

Which packages is said by `package.json`, which versions by `package-lock.json` (made by `npm install
--package-lock-only`). Each is fetched from the npm registry, held against the hash in the lock file, and its
module is written without comments and with imports that name the files beside it. That is all the bundling
that modules need, so neither Node.js nor npm has to be there. Nothing of the packages is run. CMake calls
this when the package is built; in the repository itself it is

    python editor/bundle.py src/fencepost/playground/vendor

A source distribution has the scripts in `editor/vendor` (made by `make wheel`); nothing is fetched then.

Exits with 2 if the registry cannot be reached.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import tarfile
import urllib.request
from base64 import b64decode
from collections.abc import Sequence
from hashlib import sha512
from pathlib import Path
from typing import Any, NamedTuple

LOCK = Path(__file__).with_name("package-lock.json")
VENDORED = Path(__file__).with_name("vendor")
LICENCES = "LICENSES.txt"
REGISTRY = os.environ.get("NPM_CONFIG_REGISTRY", "https://registry.npmjs.org/").rstrip("/")
_IMPORT = re.compile(
    r"""^((?:import|export)\b[^'"\n]*?\bfrom\s*|import\s*)(['"])([^'"\n]+)\2""", re.MULTILINE
)


# Comments that have their lines to themselves; a page with them would load for half as long again.
_COMMENTS = re.compile(r"^[ \t]*(?:/\*(?:[^*]|\*(?!/))*\*/|//.*)[ \t]*\n", re.MULTILINE)


class Package(NamedTuple):
    name: str
    version: str
    integrity: str

    @property
    def file(self) -> str:
        """The name of its script here: `@codemirror/state` is in `codemirror-state.js`."""
        return self.name.removeprefix("@").replace("/", "-") + ".js"

    @property
    def heading(self) -> str:
        """What stands above its licence."""
        return f"{self.name} {self.version}"

    @property
    def url(self) -> str:
        return f"{REGISTRY}/{self.name}/-/{self.name.rpartition('/')[2]}-{self.version}.tgz"


def main(directory: Path) -> None:
    packages = locked(json.loads(LOCK.read_text(encoding="utf-8")))
    if has_all(VENDORED, packages):
        if directory.resolve() != VENDORED:
            shutil.copytree(VENDORED, directory, dirs_exist_ok=True)
        return
    files = {package.name: package.file for package in packages}
    contents = [fetched(package) for package in packages]
    directory.mkdir(parents=True, exist_ok=True)
    licences = []
    for package, content in zip(packages, contents, strict=True):
        script, licence = unpacked(content, package.name)
        script = with_relative_imports(without_comments(script), files)
        (directory / package.file).write_text(script, encoding="utf-8")
        licences.append(f"{package.heading}\n\n{licence.strip()}\n")
    (directory / LICENCES).write_text("\n\n".join(licences), encoding="utf-8")


def has_all(directory: Path, packages: Sequence[Package]) -> bool:
    """Whether the scripts of these versions are there; the file with the licences is written last."""
    licences = directory / LICENCES
    if not licences.exists():
        return False
    lines = set(licences.read_text(encoding="utf-8").splitlines())
    return all(package.heading in lines and (directory / package.file).exists() for package in packages)


def locked(lock: dict[str, Any]) -> list[Package]:
    entries = {path.removeprefix("node_modules/"): entry for path, entry in lock["packages"].items() if path}
    return [Package(name, entry["version"], entry["integrity"]) for name, entry in entries.items()]


def fetched(package: Package) -> bytes:
    try:
        with urllib.request.urlopen(package.url, timeout=60) as response:
            content: bytes = response.read()
    except OSError as error:
        print(f"cannot fetch {package.url}: {error}", file=sys.stderr)
        sys.exit(2)
    kind, _, digest = package.integrity.partition("-")
    if kind != "sha512" or sha512(content).digest() != b64decode(digest):
        raise SystemExit(f"{package.url} is not what package-lock.json has the hash of")
    return content


def unpacked(content: bytes, name: str) -> tuple[str, str]:
    """The module and the licence in the archive of a package."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:

        def text(path: str) -> str:
            member = archive.extractfile(f"package/{path}")
            assert member is not None, f"{name} has no {path}"
            return member.read().decode()

        return text(entry(json.loads(text("package.json")))), text("LICENSE")


def entry(manifest: dict[str, Any]) -> str:
    """The file with the module of a package."""
    exports = manifest.get("exports", manifest.get("module", manifest.get("main")))
    while isinstance(exports, dict):
        exports = next(exports[key] for key in (".", "import", "default") if key in exports)
    return str(exports).removeprefix("./")


def without_comments(script: str) -> str:
    """The licences are in a file of their own."""
    return _COMMENTS.sub("", script)


def with_relative_imports(script: str, files: dict[str, str]) -> str:
    return _IMPORT.sub(lambda found: f"{found[1]}{found[2]}./{files[found[3]]}{found[2]}", script)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
