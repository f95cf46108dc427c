"""``masthead mail``, as it is typed (billing, "E-mail")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.cli import cli
from tests.billing.seller import SELLER
from tests.circulation.shop import refused, run, summaries
from tests.long import SHORT_ON_SQLITE
from tests.mail.mailboxes import report
from tests.mail.servers import post_office

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

ADA = "ada@example.org"


@SHORT_ON_SQLITE
def test_mails_are_sent_come_back_and_are_released(
    shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = SELLER | {"mail_from": "press@example.org"}
    run(shop, "billing", "settings", *(f"{name}={text}" for name, text in settings.items()))
    run(shop, "billing", "begin")
    run(shop, "payer", "set", "1", "--by-email")
    run(shop, "order", "add", "--subscriber=1", "--bundle=1")
    by_file = ("mail", "send", f"--smtp-url-file={tmp_path / 'url'}")
    (tmp_path / "url").write_text("smtp://127.0.0.1:1\n", encoding="utf-8")
    assert "mail_sending is no; `masthead billing settings`" in refused(shop, *by_file)
    run(shop, "billing", "settings", "mail_sending=yes")
    assert "takes no mails now" in refused(shop, *by_file)
    (tmp_path / "url").write_bytes(b"smtp://\xff\n")
    assert "the URL of the mail server is not valid" in refused(shop, *by_file)
    assert refused(shop, "mail", "send", exit_status=2).startswith(
        "set MASTHEAD_SMTP_URL to the URL of the mail server"
    )
    with post_office() as (office, server):
        url = f"smtp://{server.host}:{server.port}"
        monkeypatch.setenv("MASTHEAD_SMTP_URL", url)
        words = ["mail", "send", "--account=1", f"--database={shop}"]
        cli.main(words, standalone_mode=False)
        assert capsys.readouterr().out == "1 mail sent\n"
        assert run(shop, "mail", "list") == []
        message_id = str(office.mails[0].message["Message-ID"])
        (tmp_path / "bounce.eml").write_bytes(report(ADA, message_id))
        assert run(shop, "mail", "bounces", tmp_path / "bounce.eml") == [
            f"on hold: {ADA}",
            "1 mail read; 1 address put on hold",
        ]
        (held,) = run(shop, "mail", "held")
        assert held.startswith(f"{ADA}  since ")
        (failed,) = run(shop, "mail", "list", "--status=failed")
        assert failed.endswith("it came back: 5.1.1 550 <the address> no such user")
        assert "`masthead mail held`" in refused(shop, "mail", "release", "eve@example.org")
        run(shop, "mail", "release", ADA)
        assert run(shop, "mail", "retry", "1") == ["1 mail queued again"]
        (tmp_path / "url").write_text(url, encoding="utf-8")
        assert run(shop, *by_file) == ["1 mail sent"]
        assert office.recipients == [ADA, ADA]
    said = summaries(shop)
    assert said[-1] == "1 mail sent"
    assert not [each for each in said if ADA in each]
