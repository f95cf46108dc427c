"""What a file of ``masthead import`` may be: its name, its packing, CSV and NDJSON."""

from __future__ import annotations

import gzip
import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput
from masthead.loading import unpacking
from masthead.loading.batches import ROW_BYTES_MAX
from masthead.loading.files import find_files
from tests.loading.publisher import SMALL, Publisher

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CSV = b"subscriber_id,email,source\n1,ada@example.org,\n"
NDJSON = b'{"subscriber_id":"1","email":"ada@example.org","source":null}\n'


def plain(content: bytes) -> bytes:
    return content


@pytest.mark.parametrize(
    ("ending", "pack"),
    [("", plain), (".gz", gzip.compress), (".zst", zstd.compress)],
    ids=["plain", "gz", "zst"],
)
@pytest.mark.parametrize(("format_", "content"), [("csv", CSV), ("ndjson", NDJSON)])
def test_a_file_is_csv_or_ndjson_plain_or_packed(
    publisher: Publisher,
    format_: str,
    content: bytes,
    ending: str,
    pack: Callable[[bytes], bytes],
) -> None:
    publisher.load({f"subscribers.{format_}{ending}": pack(content)})
    (subscriber,) = publisher.table("subscribers")
    assert subscriber["subscriber_id"] == 1
    assert subscriber["email"] == "ada@example.org"
    assert subscriber["source"] is None


def test_packed_files_may_have_several_parts(publisher: Publisher) -> None:
    gz = gzip.compress(b"subscriber_id\n") + gzip.compress(b"1\n")
    zst = zstd.compress(b"subscriber_id\n") + zstd.compress(b"2\n")
    publisher.load({"subscribers.csv.gz": gz})
    publisher.load({"subscribers.csv.zst": zst})
    assert [row["subscriber_id"] for row in publisher.table("subscribers")] == [1, 2]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize("content", [b"subscriber_id\n1\n", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"])
def test_a_packed_file_that_is_broken_is_refused_by_name(
    publisher: Publisher, ending: str, content: bytes
) -> None:
    name = f"subscribers.csv{ending}"
    (line,) = publisher.problems({name: content})
    assert line.startswith(f"{name}: cannot be read to its end: ")


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".zst", zstd.compress)])
def test_a_packed_file_that_was_cut_off_is_refused(
    publisher: Publisher, ending: str, pack: Callable[[bytes], bytes]
) -> None:
    rows = b"".join(b"%d,%d@example.org\n" % (n, n * 7919) for n in range(9_000))
    packed = pack(b"subscriber_id,email\n" + rows)
    (line,) = publisher.problems({f"subscribers.csv{ending}": packed[: len(packed) // 2]})
    assert "cannot be read to its end" in line


@pytest.mark.parametrize("name", ["subscribers.csv", "subscribers.ndjson"])
def test_a_byte_order_mark_is_fine(publisher: Publisher, name: str) -> None:
    content = CSV if name.endswith("csv") else NDJSON
    publisher.load({name: b"\xef\xbb\xbf" + content})
    assert publisher.table("subscribers")[0]["email"] == "ada@example.org"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_csv_lines_end_as_any_system_ends_them(publisher: Publisher, end: str) -> None:
    publisher.load({"subscribers.csv": f"subscriber_id,email{end}1,a{end}2,b{end}"})
    assert [row["email"] for row in publisher.table("subscribers")] == ["a", "b"]


def test_quoted_cells_hold_commas_quotes_and_line_ends(publisher: Publisher) -> None:
    content = 'subscriber_id,source\r\n1,"a, ""b""\r\nc\nd\re"\r\n2,"plain"\r\n'
    publisher.load({"subscribers.csv": content})
    sources = [row["source"] for row in publisher.table("subscribers")]
    assert sources == ['a, "b"\r\nc\nd\re', "plain"]


def test_line_numbers_count_the_lines_inside_quotes_and_empty_lines(publisher: Publisher) -> None:
    content = 'subscriber_id,source\n1,"a\nb\nc"\n\nx,\n'
    assert publisher.problem({"subscribers.csv": content}).startswith("subscribers.csv:6: ")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('2,"a"b\n', "not CSV as RFC 4180 has it: "),
        ('2,"never closed\n', "the quotes that begin here are not closed, "),
    ],
)
def test_broken_quotes_are_refused_with_the_line_on_which_they_begin(
    publisher: Publisher, row: str, problem: str
) -> None:
    line = publisher.problem({"subscribers.csv": f"subscriber_id,source\n1,x\n{row}"})
    assert line.startswith(f"subscribers.csv:3: {problem}")


@pytest.mark.parametrize("row", ["2\n", "2,a,b\n"])
def test_a_row_with_more_or_fewer_cells_than_the_header_is_a_problem(
    publisher: Publisher, row: str
) -> None:
    line = publisher.problem({"subscribers.csv": f"subscriber_id,source\n1,x\n{row}3,y\n"})
    count = row.count(",") + 1
    assert line == f"subscribers.csv:3: row: has {count} cells where the header has 2"


def test_an_empty_cell_is_a_missing_value_quoted_or_not(publisher: Publisher) -> None:
    publisher.load({"subscribers.csv": 'subscriber_id,email,source\n1,"",\n'})
    (subscriber,) = publisher.table("subscribers")
    assert subscriber["email"] is None
    assert subscriber["source"] is None


def test_white_space_is_part_of_a_value(publisher: Publisher) -> None:
    publisher.load({"subscribers.csv": "subscriber_id,source\n1, a \n"})
    assert publisher.table("subscribers")[0]["source"] == " a "


def test_ndjson_takes_a_number_as_a_number_and_as_a_string(publisher: Publisher) -> None:
    """rules, "Numbers and booleans in files"."""
    files: dict[str, str | bytes] = {**SMALL}
    del files["orders.csv"]
    files["orders.ndjson"] = "".join(
        f'{{"order_id":{order_id},"subscriber_id":{subscriber},"user_id":{user},'
        f'"is_gift":{gift},"grand_total":{total}}}\n'
        for order_id, subscriber, user, gift, total in (
            ("1", "1", "9223372036854775807", "true", "10.50"),
            ('"2"', '"1"', '"9223372036854775807"', '"1"', '"10.5"'),
            ("3", "1", "9223372036854775807", "1", "1050e-2"),
        )
    )
    publisher.load(files)
    for order in publisher.table("orders"):
        assert order["user_id"] == 2**63 - 1
        assert order["is_gift"] == 1
        assert order["grand_total"] == "10.5"


def test_numbers_of_ndjson_keep_every_digit(publisher: Publisher) -> None:
    """A number that went through a float would be 0.30000000000000004 or so."""
    publisher.load(SMALL)
    publisher.load({"purchases.ndjson": '{"purchase_id":1,"total":123456789012345678.10}\n'})
    assert publisher.table("purchases")[0]["total"] == "123456789012345678.10"


def test_option_ids_are_an_array_in_ndjson(small: Publisher) -> None:
    for ids in ("[11,10]", '["11","10","10"]', '"11|10"'):
        line = f'{{"subscriber_id":2,"field_id":1,"option_ids":{ids}}}\n'
        small.load({"custom_field_answers.ndjson": line})
        (answer,) = (
            a
            for a in small.table("custom_field_answers")
            if a["field_id"] == 1 and a["subscriber_id"] == 2
        )
        assert answer["option_ids"] == "10|11"


def test_rows_of_ndjson_may_have_different_keys_and_lack_some(small: Publisher) -> None:
    """A key that a row lacks stays as it is; null takes the value away."""
    small.load(
        {
            "subscribers.ndjson": (
                '{"subscriber_id":1,"source":"web"}\n'
                "\n"
                '{"email":null,"subscriber_id":2}\n'
                '{"subscriber_id":3,"renewal_code":"CCCCC"}\n'
            )
        }
    )
    first, second, third = small.table("subscribers")
    assert (first["source"], first["email"]) == ("web", "ada@example.org")
    assert (second["source"], second["email"]) == (None, None)
    assert third["renewal_code"] == "CCCCC"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[1]", "row: not a JSON object"),
        ("1", "row: not a JSON object"),
        ("{", "row: not valid JSON: "),
        ('{"subscriber_id":1}{"subscriber_id":2}', "row: not valid JSON: "),
        ('{"subscriber_id":NaN}', "row: not valid JSON: "),
        ('{"subscriber_id":1,"email":"\\ud800"}', "row: not valid JSON: "),
        ('{"subscriber_id":1,"email":["a"]}', "email: a nested value, "),
        ('{"subscriber_id":1,"email":{"a":1}}', "email: a nested value, "),
        ('{"subscriber_id":1,"email":5}', "email: 5 is a number, where text is expected"),
        ('{"subscriber_id":1,"password":5}', "password: a number, where text is expected"),
        ('{"subscriber_id":1,"email":true}', "email: true or false, where another value is"),
        ('{"subscriber_id":true}', "subscriber_id: true or false, where another value is"),
        ('{"subscriber_id":1.0}', "subscriber_id: '1.0' is not a whole number"),
        (
            '{"subscriber_id":18446744073709551616}',
            "subscriber_id: '18446744073709551616' does not fit ",
        ),
        ('{"email":"a"}', "row: the column subscriber_id is missing, the key of subscribers"),
        ('{"subscriber_id":1,"emial":"a"}', "row: there is no column 'emial' in subscribers; "),
        ('{"subscriber_id":1,"email":' + "[" * 50_000 + "]" * 50_000 + "}", "row: nested too"),
    ],
)
def test_a_line_of_ndjson_without_a_record_is_a_problem(
    publisher: Publisher, line: str, problem: str
) -> None:
    found = publisher.problem({"subscribers.ndjson": f'{{"subscriber_id":7}}\n{line}\n'})
    assert found.startswith(f"subscribers.ndjson:2: {problem}")


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (
            "subscriber_id,emial",
            "there is no column 'emial' in subscribers; the nearest is 'email'",
        ),
        ("subscriber_id,", "there is no column '' in subscribers; the nearest is "),
        ("email", "the column subscriber_id is missing, the key of subscribers"),
        ("", "the column subscriber_id is missing, the key of subscribers"),
        ("subscriber_id,email,email", "the column email occurs twice"),
        ("subscriber_id,password,password_md5", "there is both a password and a password_md5"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(
    publisher: Publisher, header: str, problem: str
) -> None:
    line = publisher.problem({"subscribers.csv": f"{header}\n"})
    assert line.startswith(f"subscribers.csv:1: {problem}")


def test_columns_come_in_any_order(publisher: Publisher) -> None:
    publisher.load({"subscribers.csv": "email,subscriber_id\na,1\n"})
    assert publisher.table("subscribers")[0]["email"] == "a"


def test_files_are_found_in_folders_and_by_name_and_other_endings_left_alone(
    publisher: Publisher,
) -> None:
    folder = publisher.write({"subscribers.csv": CSV, "notes.txt": "", "README.md": ""})
    other = publisher.write({"publications.ndjson.gz": gzip.compress(b"")})
    found = find_files([folder, other / "publications.ndjson.gz"])
    assert [(file.label, file.table.name) for file in found] == [
        ("subscribers.csv", "subscribers"),
        ("publications.ndjson.gz", "publications"),
    ]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("subscriber.csv", "'subscriber' is nothing to load; the nearest is 'subscribers'"),
        ("subscribers.txt", "the name ends with none of .csv, .tsv, .ndjson, .jsonl, .xlsx"),
        ("subscribers.gz", "the name ends with none of .csv, .tsv, .ndjson, .jsonl, .xlsx"),
    ],
)
def test_a_name_that_says_no_table_is_refused(
    publisher: Publisher, name: str, sentence: str
) -> None:
    """rules, "Files in a folder"."""
    path = publisher.write({name: CSV}) / name
    with pytest.raises(BadInput, match=re.escape(f"{path}: {sentence}")):
        find_files([path])


def test_a_folder_without_files_and_a_path_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no file to load"):
        find_files([tmp_path])
    with pytest.raises(BadInput, match="there is no such file or folder"):
        find_files([tmp_path / "nowhere"])


def test_files_of_one_name_are_told_apart_by_their_folders(publisher: Publisher) -> None:
    files = {"subscribers.csv": "subscriber_id,email\nx,\n"}
    folders = [publisher.write(files), publisher.write(files)]
    labels = [file.label for file in find_files(folders)]
    assert labels == [str(folder / "subscribers.csv") for folder in folders]


def test_a_long_text_passes_from_ndjson_to_csv_and_back(
    small: Publisher, new_publisher: Callable[[], Publisher]
) -> None:
    """What one format can hold, the other can: else an export could not be loaded."""
    notes = "n" * 300_000
    line = json.dumps({"purchase_id": 1, "notes": notes})
    small.load({"purchases.ndjson": line})
    assert small.table("purchases")[0]["notes"] == notes
    copy = new_publisher()
    copy.load(small.exported())
    assert copy.everything() == small.everything()


@pytest.mark.parametrize(
    ("name", "start"),
    [("subscribers.csv", b'subscriber_id,source\n1,"'), ("subscribers.ndjson", b'{"')],
)
def test_a_line_without_end_is_refused_before_it_fills_the_memory(
    publisher: Publisher, name: str, start: bytes
) -> None:
    line = publisher.problem({name: start + b"x" * (ROW_BYTES_MAX + 1)})
    assert line.startswith(f"{name}:")


@pytest.mark.parametrize(
    "text",
    [
        '{"subscriber_id":1,"email":"a","email":"b"}',
        '{"subscriber_id":1,"email":"a","email":"a"}',
        '{"subscriber_id" : 1 , "email" : "a" , "email" : "b"}',
        '{"subscriber_id":1,"email":"a","em\\u0061il":"b"}',
        '{"subscriber_id":1,"email":null,"email":"b"}',
        '{"subscriber_id":1,"email":"a\\":","email"\t:"b"}',
    ],
)
def test_a_key_twice_in_an_object_is_a_problem(publisher: Publisher, text: str) -> None:
    """rules, "A key twice in an object": whichever were taken, it would be the wrong one."""
    line = publisher.problem({"subscribers.ndjson": f'{{"subscriber_id":7}}\n{text}\n'})
    assert line == "subscribers.ndjson:2: row: the key email occurs twice"


@pytest.mark.parametrize("text", ['a":', '":":":', ' " : " ', "a:b", '"'])
def test_a_text_that_looks_like_keys_is_a_text(publisher: Publisher, text: str) -> None:
    """rules, "A key twice in an object"."""
    row = {"subscriber_id": 1, "source": text}
    for separators in ((",", ":"), (", ", ": "), (" , ", " : ")):
        publisher.load({"subscribers.ndjson": json.dumps(row, separators=separators)})
        assert publisher.table("subscribers")[0]["source"] == text


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".zst", zstd.compress)])
@pytest.mark.parametrize("format_", ["csv", "ndjson"])
def test_a_file_that_grows_out_of_all_proportion_is_refused_by_name(
    publisher: Publisher, format_: str, ending: str, pack: Callable[[bytes], bytes]
) -> None:
    """rules, "Packed files that grow too much": be it lines, or nothing but one cell."""
    name = f"subscribers.{format_}{ending}"
    # One part after another, as no file of one part alone would need.
    part = pack(bytes(16_000_000) if format_ == "csv" else (b" " * 999 + b"\n") * 16_000)
    start = pack(b"subscriber_id\n1\n" if format_ == "csv" else b'{"subscriber_id":1}\n')
    (line,) = publisher.problems({name: start + part * (2 + unpacking.FREE_BYTES // 16_000_000)})
    if format_ == "csv":
        assert line.startswith(f"{name}:")
    else:
        assert line.startswith(f"{name}: unpacks to more than 250 times its size")


def test_a_file_may_grow_as_much_as_records_do(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Packed files that grow too much"."""
    monkeypatch.setattr(unpacking, "FREE_BYTES", 1_000)
    rows = b"".join(b"%d,\n" % n for n in range(1, 20_001))
    for ending, pack in ((".gz", gzip.compress), (".zst", zstd.compress)):
        publisher.load({f"subscribers.csv{ending}": pack(b"subscriber_id,email\n" + rows)})
    assert len(publisher.table("subscribers")) == 20_000
