"""``masthead import --reject``: good rows are loaded, bad ones set aside to be corrected."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput, BadUsage
from masthead.loading.load import Options, load
from masthead.store.merging import Counts
from tests.loading.publisher import SMALL, Publisher

if TYPE_CHECKING:
    from pathlib import Path


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))


def test_good_rows_are_loaded_and_bad_ones_written_with_their_reason(
    publisher: Publisher, tmp_path: Path
) -> None:
    reject = tmp_path / "deep" / "rejected"
    loaded = publisher.load(
        {"subscribers.csv": 'subscriber_id,email,source\n1,a,\nx,b,"c, ""d"""\n3,e,\n'},
        reject=reject,
    )
    assert loaded.counts == {"subscribers": Counts(2, 0, 0)}
    assert loaded.rejected == {"subscribers.csv": 1}
    assert [row["subscriber_id"] for row in publisher.table("subscribers")] == [1, 3]
    assert rows_of(reject / "subscribers.csv") == [
        {
            "subscriber_id": "x",
            "email": "b",
            "source": 'c, "d"',
            "reason": (
                "subscriber_id: 'x' is not a whole number: digits only, without leading zeros"
            ),
        }
    ]


def test_the_reason_is_the_last_column_and_holds_all_that_is_wrong(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Bad rows set aside"."""
    content = f"subscriber_id,email,password_md5\n1,{'e' * 51},x\n"
    publisher.load({"subscribers.csv": content}, reject=tmp_path / "r")
    header, row = (tmp_path / "r" / "subscribers.csv").read_text().splitlines()
    assert header == "subscriber_id,email,password_md5,reason"
    assert row.endswith(
        f"email: '{'e' * 51}' is longer than 50 characters; "
        "password_md5: not the 32 hexadecimal digits of an MD5 digest"
    )


def test_without_bad_rows_nothing_is_put_aside(publisher: Publisher, tmp_path: Path) -> None:
    loaded = publisher.load(SMALL, reject=tmp_path / "r")
    assert loaded.rejected == {}
    assert list((tmp_path / "r").iterdir()) == []


def test_what_refers_to_a_rejected_row_is_rejected_too(
    publisher: Publisher, tmp_path: Path
) -> None:
    """A rejected subscriber takes along what hangs on it, and nothing else."""
    files = {**SMALL, "subscribers.csv": SMALL["subscribers.csv"].replace("AAAAA", "TOO LONG")}
    loaded = publisher.load(files, reject=tmp_path / "r")
    assert loaded.rejected == {
        "subscribers.csv": 1,
        "addresses.csv": 1,
        "subscriptions.csv": 1,
        "subscription_issues.csv": 1,
        "custom_field_answers.csv": 1,
        "orders.csv": 1,
        "order_items.csv": 1,
        "purchases.csv": 1,
        "mailing_list_entries.csv": 1,
        "notes.csv": 1,
        "complaints.csv": 1,
        "reader_changes.csv": 1,
        "reader_consents.csv": 1,
        "reader_requests.csv": 1,
    }
    (subscription,) = rows_of(tmp_path / "r" / "subscriptions.csv")
    assert subscription["reason"] == (
        "subscriber_id: there is no subscriber 1; mailing_address_id: there is no address 1"
    )
    assert [row["subscription_id"] for row in publisher.table("subscriptions")] == [2]


def test_corrected_files_load_and_leave_what_a_clean_load_leaves(
    publisher: Publisher, tmp_path: Path, store_of_small: dict[str, bytes]
) -> None:
    files = {**SMALL, "subscribers.csv": SMALL["subscribers.csv"].replace("AAAAA", "TOO LONG")}
    publisher.load(files, reject=tmp_path / "r")
    corrected = tmp_path / "r" / "subscribers.csv"
    corrected.write_text(corrected.read_text().replace("TOO LONG", "AAAAA"))
    publisher.load_folder(tmp_path / "r")
    assert publisher.exported() == store_of_small


@pytest.fixture
def store_of_small(small: Publisher) -> dict[str, bytes]:
    return small.exported()


def test_rejected_ndjson_is_ndjson_with_numbers_as_they_were(
    publisher: Publisher, tmp_path: Path
) -> None:
    line = '{"subscriber_id":2.50,"email":"a \\"b\\"","source":99999999999999999999}'
    publisher.load({"subscribers.ndjson": line}, reject=tmp_path / "r")
    written = (tmp_path / "r" / "subscribers.ndjson").read_text()
    assert written.startswith(line[:-1] + ',"reason":"')
    assert written.endswith('"}\n')
    corrected = written.replace("2.50", "2", 1).replace("99999999999999999999", '"web"', 1)
    (tmp_path / "r" / "subscribers.ndjson").write_text(corrected)
    publisher.load_folder(tmp_path / "r")
    (subscriber,) = publisher.table("subscribers")
    assert subscriber["subscriber_id"] == 2
    assert subscriber["email"] == 'a "b"'


@pytest.mark.parametrize(
    "line",
    [
        b"[1, 2]",
        b"{broken",
        b'{"subscriber_id":1,"email":"\xc3\xbc \xff"}',
        b'{"subscriber_id":1,"email":"\\ud800"}',
        b'{"subscriber_id":1,"email":' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"subscriber_id":1,"email":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    ],
    ids=["array", "broken", "byte", "surrogate", "deep", "deeper"],
)
def test_a_line_without_a_record_is_set_aside_too(
    publisher: Publisher, tmp_path: Path, line: bytes
) -> None:
    content = b'{"subscriber_id":5}\n' + line + b"\n"
    loaded = publisher.load({"subscribers.ndjson": content}, reject=tmp_path / "r")
    assert loaded.counts["subscribers"].inserted == 1
    (written,) = (tmp_path / "r" / "subscribers.ndjson").read_bytes().splitlines()
    assert b'"reason":"' in written
    json.loads(written)


def test_bytes_that_are_no_text_are_put_aside_as_they_are(
    publisher: Publisher, tmp_path: Path
) -> None:
    publisher.load(
        {"subscribers.csv": b"subscriber_id,email\n1,caf\xe9\n2,Z\xc3\xbcrich\n"},
        reject=tmp_path / "r",
    )
    written = (tmp_path / "r" / "subscribers.csv").read_bytes()
    assert b"1,caf\xe9,email: 'caf\\udce9' is not valid UTF-8" in written


def test_rows_of_another_width_keep_all_their_cells(publisher: Publisher, tmp_path: Path) -> None:
    publisher.load(
        {"subscribers.csv": "subscriber_id,email\n1\n2,a,extra,more\n"}, reject=tmp_path / "r"
    )
    short, long = rows_of(tmp_path / "r" / "subscribers.csv")
    assert short["subscriber_id"] == "1"
    assert (long["subscriber_id"], long["email"]) == ("2", "a")
    assert "'extra'; then 'more'" in long["reason"]


def test_rejected_rows_of_two_files_of_a_table_are_kept_apart(
    publisher: Publisher, tmp_path: Path
) -> None:
    folders = [publisher.write({"subscribers.csv": f"subscriber_id\nx{n}\n"}) for n in range(2)]
    packed = gzip.compress(b'{"subscriber_id":"x2"}\n')
    folders.append(publisher.write({"subscribers.ndjson.gz": packed}))
    loaded = load(
        publisher.store, folders, account_id=publisher.account_id, options=Options(tmp_path / "r")
    )
    assert sum(loaded.rejected.values()) == 3
    written = [path.read_text() for path in (tmp_path / "r").rglob("subscribers.*")]
    assert sorted(
        text.count(f"\nx{n},") + text.count(f'"x{n}",') for n, text in enumerate(sorted(written))
    ) == [1, 1, 1]
    assert len(loaded.rejected) == 3
    for name in loaded.rejected:
        assert (tmp_path / "r" / name).is_file()


def test_of_two_rows_with_one_key_the_first_is_loaded(publisher: Publisher, tmp_path: Path) -> None:
    publisher.load(
        {"subscribers.csv": "subscriber_id,source\n1,first\n1,second\n"}, reject=tmp_path / "r"
    )
    assert publisher.table("subscribers")[0]["source"] == "first"
    assert [row["source"] for row in rows_of(tmp_path / "r" / "subscribers.csv")] == ["second"]


def test_a_list_whose_parents_parent_is_rejected_is_rejected(
    publisher: Publisher, tmp_path: Path
) -> None:
    content = "mailing_list_id,parent_mailing_list_id\n4,3\n3,2\n2,1\n1,9\n5,5\n"
    loaded = publisher.load({"list_downloads.csv": content}, reject=tmp_path / "r")
    assert loaded.rejected == {"list_downloads.csv": 4}
    assert [row["mailing_list_id"] for row in publisher.table("list_downloads")] == [5]


def test_a_renewal_code_that_a_rejected_row_would_have_freed_stays_taken(
    small: Publisher, tmp_path: Path
) -> None:
    """Subscriber 2 keeps BBBBB, for 3 has CCCCC; so 1 cannot have BBBBB, and 4 not AAAAA."""
    small.load({"subscribers.csv": "subscriber_id,renewal_code\n3,CCCCC\n"})
    before = small.table("subscribers")
    loaded = small.load(
        {"subscribers.csv": "subscriber_id,renewal_code\n4,AAAAA\n1,BBBBB\n2,CCCCC\n"},
        reject=tmp_path / "r",
    )
    assert loaded.rejected == {"subscribers.csv": 3}
    assert small.table("subscribers") == before


def test_an_options_answers_go_with_it(small: Publisher, tmp_path: Path) -> None:
    loaded = small.load(
        {
            "custom_field_options.csv": "option_id,field_id,active\n12,1,maybe\n13,1,1\n",
            "custom_field_answers.csv": "subscriber_id,field_id,option_ids\n2,1,12|13\n",
        },
        reject=tmp_path / "r",
    )
    assert loaded.rejected == {"custom_field_options.csv": 1, "custom_field_answers.csv": 1}
    assert len(small.table("custom_field_answers")) == 2


@pytest.mark.parametrize("inside", [".", ".."])
def test_rejected_rows_are_never_written_over_the_files_they_come_from(
    publisher: Publisher, inside: str
) -> None:
    folder = publisher.write({"subscribers.csv": "subscriber_id\nx\n1\n"})
    with pytest.raises(BadUsage, match="choose another folder"):
        publisher.load_folder(folder, reject=folder / inside)
    assert (folder / "subscribers.csv").read_text() == "subscriber_id\nx\n1\n"


def test_where_the_bad_rows_cannot_be_written_nothing_is_loaded(
    publisher: Publisher, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file, and no folder")
    with pytest.raises(BadInput, match="cannot be written to"):
        publisher.load({"subscribers.csv": "subscriber_id\nx\n1\n"}, reject=taken)
    assert publisher.table("subscribers") == []


def test_a_thousand_bad_rows_are_all_put_aside(publisher: Publisher, tmp_path: Path) -> None:
    content = "subscriber_id\n" + "".join(f"{n}\nx{n}\n" for n in range(1_000))
    loaded = publisher.load({"subscribers.csv": content}, reject=tmp_path / "r")
    assert loaded.counts["subscribers"].inserted == 1_000
    bad = [row["subscriber_id"] for row in rows_of(tmp_path / "r" / "subscribers.csv")]
    assert bad == [f"x{n}" for n in range(1_000)]


@pytest.mark.parametrize(
    ("encoding", "separator", "quote"),
    [("utf-8", ";", '"'), ("cp1252", ";", '"'), ("utf-16", "\t", '"'), ("utf-8", ",", "'")],
)
def test_rejected_rows_are_in_the_form_of_their_file(
    publisher: Publisher, tmp_path: Path, encoding: str, separator: str, quote: str
) -> None:
    """rules, "Bad rows set aside": so they load as the file did."""
    lines = (["subscriber_id", "source"], ["1", "Zürich"], ["x", f"Köln{separator} Süd"])
    text = "".join(separator.join(quote + c + quote for c in line) + "\r\n" for line in lines)
    publisher.load({"subscribers.csv": text.encode(encoding)}, reject=tmp_path / "r")
    written = tmp_path / "r" / "subscribers.csv"
    text = written.read_bytes().decode(encoding)
    header = text.splitlines()[0].replace(quote, "")
    assert header == separator.join(["subscriber_id", "source", "reason"])
    assert "Köln" in text
    written.write_bytes(text.replace("x", "2", 1).encode(encoding))
    publisher.load_folder(tmp_path / "r")
    assert [row["source"] for row in publisher.table("subscribers")] == [
        "Zürich",
        f"Köln{separator} Süd",
    ]


def test_rejected_rows_that_would_look_like_another_encoding_are_utf_8(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Bad rows set aside": the whole file shows that it is Polish, one row does not."""
    names = ["Wiśniewski", "Świętokrzyska", "Żółć", "Dąbrowski", "Gdańsk", "Łódź"] * 9
    rows = "".join(f"{n},{name}\n" for n, name in enumerate(names))
    content = f"subscriber_id,source\n{rows}x,Dęby\n".encode("cp1250")
    publisher.load({"subscribers.csv": content}, reject=tmp_path / "r")
    (row,) = rows_of(tmp_path / "r" / "subscribers.csv")
    assert row["source"] == "Dęby"


def test_rejected_ndjson_of_another_encoding_loads_again(
    publisher: Publisher, tmp_path: Path
) -> None:
    content = '{"subscriber_id":"x","source":"Zürich 東京"}\n{"subscriber_id":1}\n'
    publisher.load({"subscribers.jsonl": content.encode("utf-16")}, reject=tmp_path / "r")
    written = tmp_path / "r" / "subscribers.jsonl"
    written.write_bytes(written.read_bytes().decode("utf-16").replace("x", "2", 1).encode("utf-16"))
    publisher.load_folder(tmp_path / "r")
    assert publisher.table("subscribers")[1]["source"] == "Zürich 東京"
