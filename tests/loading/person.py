"""A subscriber with a value in each personal column, and what is stored of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.store import erasing
from tests.loading.publisher import SMALL

if TYPE_CHECKING:
    from tests.loading.publisher import Publisher

DIGEST = "5f4dcc3b5aa765d61d8327deb882cf99"
# All personal data of subscriber 1 contains the word.
WORD = "Quill"
NUMBER = "4242424242"
PERSON = {
    **SMALL,
    "subscribers.csv": (
        "subscriber_id,renewal_code,email,password_md5,first_name,last_name,source\n"
        f"1,{WORD},ada@{WORD}.example,{DIGEST},{WORD}a,{WORD}b,{WORD}c\n"
        "2,BBBBB,ben@example.org,,Ben,Birch,Web\n"
    ),
    "addresses.csv": (
        "address_id,subscriber_id,first_name,last_name,company,address,city,state,zip_code,"
        "country_name,country_abbreviation,latitude,longitude,verified\n"
        f"1,1,{','.join(f'{WORD}{n}' for n in range(9))},{NUMBER},{NUMBER},1\n"
        "2,2,Ben,Birch,,2 Road,Dover,DE,19901,United States,US,,,1\n"
    ),
    "custom_field_answers.csv": (
        "subscriber_id,field_id,option_ids,text_value,answered_on\n"
        f"1,1,10|11,,2026-03-04\n1,2,,{WORD},\n2,2,,So,\n"
    ),
    "orders.csv": (
        "order_id,subscriber_id,mailing_address_id,import_name,order_date,grand_total,"
        "external_reference,content_digest,paid_on,payment_type,disputed_on,dispute\n"
        f"1,1,1,{WORD},2026-03-01 10:00:00,10.5,SHOP-1,{WORD},2026-03-01,Check,2026-04-01,{WORD}\n"
        "2,2,2,March,2026-03-01 10:00:00,3,,,,,,\n"
    ),
    "purchases.csv": (
        "purchase_id,subscriber_id,payment_type,notes,name,invoice_id,total\n"
        f"1,1,Check,{WORD} called,{WORD},INV-1,10.50\n2,2,Check,Called,Ben,INV-2,3\n"
    ),
    "notes.csv": (
        "note_id,subscriber_id,noted_at,author,text\n"
        f"1,1,2026-03-02 09:00:00,ben,{WORD} calls\n2,2,2026-03-02 09:00:00,ben,Calls\n"
    ),
    "reader_changes.csv": (
        "reader_change_id,subscriber_id,subscription_id,kind,made_at,before,after\n"
        f"1,1,1,address,2026-03-04 09:00:00,{WORD} Road,{WORD} Street\n"
        "2,2,2,pause,2026-03-04 09:00:00,,May\n"
    ),
    "reader_requests.csv": (
        "reader_request_id,subscriber_id,subscription_id,issue_id,kind,text,made_at\n"
        f"1,1,1,1,missing_copy,{WORD} waits,2026-03-04 09:00:00\n"
        "2,2,,,message,Hello,2026-03-04 09:00:00\n"
    ),
    "complaints.csv": (
        "complaint_id,subscriber_id,subscription_id,issue_id,kind,answer,made_at,author,text\n"
        f"1,1,1,1,lost,extended,2026-03-03 09:00:00,ben,{WORD} was stolen\n"
    ),
}


def erase(publisher: Publisher, subscriber_id: int = 1, **options: Any) -> dict[str, int]:
    """Erase a subscriber; return how many rows of each table that changed."""
    return erasing.erase(publisher.store, publisher.account_id, subscriber_id, **options)


def personal_values(publisher: Publisher, subscriber_id: int = 1) -> list[tuple[str, str, Any]]:
    """Return what is stored of a subscriber that is personal: table, column and value."""
    return [
        (table.name, name, record[name])
        for table in erasing.PERSONAL
        for record in publisher.table(table.name)
        if record["subscriber_id"] == subscriber_id
        for name in table.personal
        if record[name] not in {None, 0}
    ]
