"""Putting the editor into the package: what is taken out of npm packages, and what is refused."""

import importlib.util
import io
import json
import tarfile
from base64 import b64encode
from hashlib import sha512
from pathlib import Path

import pytest

EDITOR = Path(__file__).parents[2] / "editor"


@pytest.fixture(scope="module")
def bundle():
    spec = importlib.util.spec_from_file_location("bundle", EDITOR / "bundle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def archive(**files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as packed:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            packed.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()


def test_every_package_is_locked_with_its_hash(bundle):
    packages = bundle.locked(json.loads((EDITOR / "package-lock.json").read_text(encoding="utf-8")))
    wanted = json.loads((EDITOR / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert set(wanted) <= {package.name for package in packages}
    assert all(package.integrity.startswith("sha512-") for package in packages)
    assert len({package.file for package in packages}) == len(packages)


def test_imports_name_the_files_beside_it(bundle):
    script = (
        "import { a, b } from '@one/two';\nimport c from \"three\";\nimport 'three';\n"
        "export { d } from '@one/two';\nconst text = \"from 'four'\";\n"
    )
    assert bundle.with_relative_imports(script, {"@one/two": "one-two.js", "three": "three.js"}) == (
        "import { a, b } from './one-two.js';\nimport c from \"./three.js\";\nimport './three.js';\n"
        "export { d } from './one-two.js';\nconst text = \"from 'four'\";\n"
    )


def test_comments_with_lines_to_themselves_are_taken_out(bundle):
    script = (
        "/**\nWhat it is.\n*/\nconst a = 1; // one\n  // Two\n  // lines:\nconst b = '//x'; /* c */\n"
        "const c = `/*`;\n/* one */ const d = `*/`;\n"
    )
    assert bundle.without_comments(script) == (
        "const a = 1; // one\nconst b = '//x'; /* c */\nconst c = `/*`;\n/* one */ const d = `*/`;\n"
    )


@pytest.mark.parametrize(
    "manifest",
    [
        {"exports": {"import": "./dist/index.js", "require": "./dist/index.cjs"}},
        {"exports": {".": {"import": {"types": "./x.d.ts", "default": "./dist/index.js"}}}},
        {"main": "dist/index.cjs", "module": "dist/index.js"},
        {"exports": "./dist/index.js"},
    ],
)
def test_the_module_of_a_package_is_found(bundle, manifest):
    assert bundle.entry(manifest) == "dist/index.js"


def test_the_script_and_the_licence_are_unpacked(bundle):
    content = archive(**{"package.json": '{"main": "index.js"}', "index.js": "1;", "LICENSE": "MIT"})
    assert bundle.unpacked(content, "one") == ("1;", "MIT")


def test_what_does_not_have_the_hash_is_refused(bundle, tmp_path, monkeypatch):
    (tmp_path / "one" / "-").mkdir(parents=True)
    (tmp_path / "one" / "-" / "one-1.0.0.tgz").write_bytes(b"something else")
    monkeypatch.setattr(bundle, "REGISTRY", tmp_path.as_uri())
    right = b64encode(sha512(b"something else").digest()).decode()
    assert bundle.fetched(bundle.Package("one", "1.0.0", f"sha512-{right}")) == b"something else"
    wrong = b64encode(sha512(b"what it should be").digest()).decode()
    with pytest.raises(SystemExit, match="is not what package-lock"):
        bundle.fetched(bundle.Package("one", "1.0.0", f"sha512-{wrong}"))


def test_a_registry_that_cannot_be_reached_ends_with_2(bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "REGISTRY", tmp_path.as_uri())
    with pytest.raises(SystemExit) as end:
        bundle.fetched(bundle.Package("one", "1.0.0", "sha512-"))
    assert end.value.code == 2


class TestSourcesWithTheEditor:
    """`make wheel` puts the scripts into the source distribution."""

    @pytest.fixture
    def bundle(self, bundle, tmp_path, monkeypatch):
        lock = {"packages": {"": {}, "node_modules/one": {"version": "1.0.0", "integrity": "sha512-"}}}
        (tmp_path / "package-lock.json").write_text(json.dumps(lock))
        monkeypatch.setattr(bundle, "LOCK", tmp_path / "package-lock.json")
        monkeypatch.setattr(bundle, "VENDORED", tmp_path / "vendor")
        monkeypatch.setattr(bundle, "REGISTRY", (tmp_path / "no-registry").as_uri())
        return bundle

    def vendored(self, tmp_path, version):
        (tmp_path / "vendor").mkdir()
        (tmp_path / "vendor" / "one.js").write_text("1;")
        (tmp_path / "vendor" / "LICENSES.txt").write_text(f"one {version}\n\nMIT\n")

    def test_they_are_used_without_a_registry(self, bundle, tmp_path):
        self.vendored(tmp_path, "1.0.0")
        bundle.main(tmp_path / "made")
        assert (tmp_path / "made" / "one.js").read_text() == "1;"
        bundle.main(tmp_path / "vendor")

    def test_those_of_another_version_are_not(self, bundle, tmp_path):
        self.vendored(tmp_path, "0.9.0")
        with pytest.raises(SystemExit) as end:
            bundle.main(tmp_path / "made")
        assert end.value.code == 2
        assert not (tmp_path / "made").exists()
