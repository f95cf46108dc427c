"""Golden answers of operations 3 and 8, typed by hand from the interface's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.conftest import EVERY_SERVER

if TYPE_CHECKING:
    from tests.api.callers import Caller

pytestmark = EVERY_SERVER

FULL = (
    '{"subscriber_id":"1","renewal_code":"GF001","email":"mira.lang@example.org",'
    '"password_md5":"5ebe2294ecd0e0f08eab7690d2a6ee69","first_name":"Mira",'
    '"last_name":"Lang","source":"spring-mailing","delete_date":null}'
)
WITH_A_CODE_ONLY = (
    '{"subscriber_id":"2","renewal_code":"GF002","email":"","password_md5":"",'
    '"first_name":"","last_name":"","source":null,"delete_date":null}'
)
AWKWARD = (
    '{"subscriber_id":"9223372036854775807","renewal_code":"G\\"\\\\é😀",'
    '"email":"o\'brien+\\"tag\\"@exämple.org",'
    '"password_md5":"a4c5547e797d95863f43685c8c7b1049",'
    '"first_name":"Zoe\u0308 \\"Zo\\" \\\\ 😀 </script> & <b>",'
    '"last_name":"12345678901234567890\u2028\u2029\\tA\\nB/é6789012345678901234567",'
    '"source":"\\"quoted\\" \\\\ </script> 😀 e\u0301","delete_date":null}'
)
BARE = (
    '{"subscriber_id":"2","renewal_code":"","email":"","password_md5":"",'
    '"first_name":"","last_name":"","source":null,"delete_date":null}'
)


def test_no_subscriber(empty: Caller) -> None:
    """interface, operation 8; rules, "Empty collections": envelopes are ``[]``."""
    assert empty.answer("/2/subscribers/") == '{"subscribers":[]}'


def test_one_subscriber(one: Caller) -> None:
    """interface, operation 8."""
    assert one.answer("/2/subscribers/") == (
        '{"subscribers":[{"subscriber_id":"1","renewal_code":"ONE01",'
        '"email":"one@example.org","password_md5":"5ebe2294ecd0e0f08eab7690d2a6ee69",'
        '"first_name":"Ona","last_name":"Einer","source":null,"delete_date":null}]}'
    )


def test_many_subscribers_full_and_awkward(golden: Caller) -> None:
    """interface, operation 8; decisions, "Integers"; rules, "Content", "Missing values"."""
    records = f"{FULL},{WITH_A_CODE_ONLY},{AWKWARD}"
    assert golden.answer("/2/subscribers/") == f'{{"subscribers":[{records}]}}'


def test_a_subscriber_of_whom_only_the_id_is_known(sparse: Caller) -> None:
    """rules, "Missing values": null where the table knows only null, else empty."""
    answer = sparse.answer("/2/subscribers/", email="")
    assert answer == f'{{"subscribers":[{BARE}]}}'


def test_a_login_that_fits_shows_subscriptions_and_their_issues(golden: Caller) -> None:
    """interface, operation 3; rules, "Login check": nested rows in order of id."""
    answer = golden.answer(
        "/2/subscribers/authenticate/", login="mira.lang@example.org", password="secret"
    )
    assert answer == (
        '{"authenticated":true,"subscribers":{"subscriber_id":"1","renewal_code":"GF001",'
        '"email":"mira.lang@example.org","first_name":"Mira","last_name":"Lang",'
        '"subscriptions":['
        '{"subscription_id":"31","date_created":"2024-02-29","date_expired":"2099-12-31",'
        '"publication_id":"11","issues_left":"12","type":"Print","issues":['
        '{"issue_id":"9","name":"Zöe\u0308 \\"Q\\" \\\\ 😀 </script> \u2028",'
        '"date":"1999-12-31"},'
        '{"issue_id":"101","name":"Spring 2024","date":"2024-02-29"},'
        '{"issue_id":"9223372036854775807",'
        '"name":"12345678901234567890123456789012345678901234567é😀!",'
        '"date":"2025-01-01"}]},'
        '{"subscription_id":"32","date_created":"2023-01-01","date_expired":null,'
        '"publication_id":"11","issues_left":"-1","type":"Digital","issues":null}]}}'
    )


def test_a_login_of_an_awkward_subscriber(golden: Caller) -> None:
    """interface, operation 3: ids near 2^63, a password outside ASCII."""
    answer = golden.answer(
        "/2/subscribers/authenticate/",
        login='o\'brien+"tag"@exämple.org',
        password="pässwörd 😀",
    )
    assert answer == (
        '{"authenticated":true,"subscribers":{"subscriber_id":"9223372036854775807",'
        '"renewal_code":"G\\"\\\\é😀","email":"o\'brien+\\"tag\\"@exämple.org",'
        '"first_name":"Zoe\u0308 \\"Zo\\" \\\\ 😀 </script> & <b>",'
        '"last_name":"12345678901234567890\u2028\u2029\\tA\\nB/é6789012345678901234567",'
        '"subscriptions":[{"subscription_id":"9223372036854775807",'
        '"date_created":"0001-01-01","date_expired":"9999-12-31",'
        '"publication_id":"9223372036854775807","issues_left":"9223372036854775807",'
        '"type":"Both","issues":null}]}}'
    )


def test_a_login_of_a_subscriber_with_a_bare_subscription(sparse: Caller) -> None:
    """interface, nested subscription: ``date_created`` and ``type`` may be empty strings."""
    answer = sparse.answer(
        "/2/subscribers/authenticate/", login="bare@example.org", password="bare"
    )
    assert answer == (
        '{"authenticated":true,"subscribers":{"subscriber_id":"1","renewal_code":"",'
        '"email":"bare@example.org","first_name":"","last_name":"","subscriptions":['
        '{"subscription_id":"1","date_created":"","date_expired":null,"publication_id":"1",'
        '"issues_left":"","type":"","issues":[{"issue_id":"1","name":"","date":""}]}]}}'
    )


def test_a_login_of_a_subscriber_without_subscriptions(logins: Caller) -> None:
    """rules, "Empty collections": ``subscriptions`` is ``[]``."""
    answer = logins.answer("/2/subscribers/authenticate/", login="zip9@example.org", password="p2")
    assert answer == (
        '{"authenticated":true,"subscribers":{"subscriber_id":"2","renewal_code":"ZIP09",'
        '"email":"zip9@example.org","first_name":"Zip9","last_name":"Login",'
        '"subscriptions":[]}}'
    )


def test_a_login_that_does_not_fit(golden: Caller) -> None:
    """interface, operation 3: ``authenticated`` false and no other member."""
    answer = golden.answer(
        "/2/subscribers/authenticate/", login="mira.lang@example.org", password="Secret"
    )
    assert answer == '{"authenticated":false}'
