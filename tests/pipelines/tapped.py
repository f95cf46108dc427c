"""The tap for Singer as a process, and what a target keeps of its messages."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from masthead import Client
from masthead.contract.decoding import read_record
from masthead.contract.operations import ENTITIES
from masthead.contract.shapes import CustomFieldDefinition
from masthead.mirror import open_copy
from masthead.mirror.applying import apply
from masthead.mirror.records import digest_of
from masthead.mirror.tables import (
    DEFINITIONS,
    OPTIONS,
    entity_named,
    rows_of_definitions,
)
from tests.mirror.kept import Kept

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mirror.kept import Source

DELETED_AT = "_sdc_deleted_at"


class Failed(Exception):
    """The tap ended with an error; the text is what it said."""


class Tapped:
    """What a target has: by the rules of the SDK's targets, with ``hard_delete``.

    A record replaces the one with its key, and one with ``_sdc_deleted_at`` removes it. A version
    that is activated removes the records of the versions before. The state is kept when all
    messages before it have been applied, and given to the next run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state: Any = None
        self.records: dict[str, dict[int, dict[str, Any]]] = {}
        self._versions: dict[tuple[str, int], int] = {}
        self._schemas: dict[str, Any] = {}

    def update(self, source: Source, *, messages_max: int | None = None) -> None:
        """Run the tap, and apply its messages; kill both after so many."""
        process = self._started(source)
        with process:
            assert process.stdout
            assert process.stderr
            for number, line in enumerate(process.stdout):
                if number == messages_max:
                    process.kill()
                    return
                self._apply(json.loads(line))
            said = process.stderr.read()
        if process.returncode:
            raise Failed(said.decode())

    def messages(self, source: Source) -> list[dict[str, Any]]:
        """Return the messages of a run without applying any."""
        process = self._started(source)
        out, said = process.communicate()
        assert not process.returncode, said.decode()
        return [json.loads(line) for line in out.splitlines()]

    def _started(self, source: Source) -> subprocess.Popen[bytes]:
        settings = {"base_url": source.url, "key": source.key, "login": source.login}
        config = self.folder / "config.json"
        config.write_text(json.dumps({**settings, "patience_s": 0}))
        command = [sys.executable, "-m", "masthead.tap", "--config", str(config)]
        if self.state:
            state = self.folder / "state.json"
            state.write_text(json.dumps(self.state))
            command += ["--state", str(state)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def _apply(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "STATE":
                self.state = message["value"]
            case "SCHEMA":
                stream = message["stream"]
                validator = Draft202012Validator(message["schema"])
                self._schemas[stream] = validator, message["key_properties"]
                self.records.setdefault(stream, {})
            case "RECORD":
                self._put(message["stream"], message["record"], message["version"])
            case "ACTIVATE_VERSION":
                stream = message["stream"]
                for key in list(self.records[stream]):
                    if self._versions[stream, key] < message["version"]:
                        del self.records[stream][key]
            case other:
                raise AssertionError(other)

    def _put(self, stream: str, record: dict[str, Any], version: int) -> None:
        validator, (key_name,) = self._schemas[stream]
        validator.validate(record)
        assert record.keys() <= validator.schema["properties"].keys()
        key = record[key_name]
        self._versions[stream, key] = version
        if record[DELETED_AT]:
            self.records[stream].pop(key, None)
        else:
            self.records[stream][key] = {k: v for k, v in record.items() if k != DELETED_AT}

    def check(self, source: Source) -> None:
        """Fail unless it has the rows of a mirror and the records of the service's digest."""
        mirror = Kept(f"sqlite:///{self.folder / 'mirror.db'}")
        own = Kept(f"sqlite:///{self.folder / 'tapped.db'}")
        for kept in (mirror, own):
            kept.path.unlink(missing_ok=True)
        mirror.update(source)
        assert mirror.differences(source) == []
        with (
            closing(open_copy(own.url)) as copy,
            Client(source.url, source.key, source.login) as client,
            copy.writing(),
        ):
            theirs = client.digest()
            for entity in ENTITIES:
                found = self.records[entity.key].values()
                read: list[Any] = [read_record(entity.shape, record) for record in found]
                apply(copy, read, entity.key)
                shown = digest_of(copy, entity_named(entity.name), lambda _count: None)
                assert (shown.count, shown.hex()) == tuple(theirs[entity.name]), entity.name
            definitions = self.records["custom_field_definitions"].values()
            defined = [read_record(CustomFieldDefinition, record) for record in definitions]
            of_tables = rows_of_definitions(defined)
            for table, rows in zip((DEFINITIONS, OPTIONS), of_tables, strict=True):
                copy.put(table, None, rows)
        loaded, expected = own.everything(), mirror.everything()
        for name in expected.keys() - {"mirror", "mailing_list_entries"}:
            assert loaded[name] == expected[name], name
