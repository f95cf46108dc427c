"""Masthead's tables as models of Django's ORM: those of the peer on Django REST framework.

``Account`` is the table that ``benchmarks.peers.models`` makes. All keys are composite, which
Django knows as ``CompositePrimaryKey`` and ``ForeignObject``.
"""

from django.db import models
from django.db.models import F

_KEPT = models.DO_NOTHING


def _to(model: str, name: str, many: str) -> models.ForeignObject:
    """Return a reference to the row of the same account and the same id."""
    key = ("account_id", name)
    return models.ForeignObject(
        model, on_delete=_KEPT, from_fields=key, to_fields=key, related_name=many
    )


class Account(models.Model):
    """A publisher's account with its pair in clear."""

    account_id = models.BigIntegerField(primary_key=True)
    company_name = models.TextField(null=True)
    email = models.TextField(null=True)
    website = models.TextField(null=True)
    active = models.BigIntegerField()
    api_active = models.BigIntegerField()
    api_key = models.TextField(null=True)
    api_login = models.TextField(null=True)
    plan = models.TextField(null=True)
    audit_type = models.TextField(null=True)
    created = models.TextField(null=True)
    master_checkout = models.TextField(null=True)
    is_authenticated = True

    class Meta:
        """The table."""

        app_label, managed, db_table = "peers", False, "peer_accounts"


class Order(models.Model):
    """An order."""

    pk = models.CompositePrimaryKey("account_id", "order_id")
    account_id = models.BigIntegerField()
    order_id = models.BigIntegerField()
    mailing_address_id = models.BigIntegerField(null=True)
    billing_address_id = models.BigIntegerField(null=True)
    subscriber_id = models.BigIntegerField()
    import_name = models.TextField(null=True)
    user_id = models.BigIntegerField(null=True)
    channel_id = models.BigIntegerField(null=True)
    order_date = models.TextField(null=True)
    is_gift = models.BigIntegerField()
    sub_total = models.TextField()
    tax_total = models.TextField()
    grand_total = models.TextField()

    class Meta:
        """The table."""

        app_label, managed, db_table = "peers", False, "orders"


class OrderItem(models.Model):
    """An item of an order."""

    pk = models.CompositePrimaryKey("account_id", "order_item_id")
    account_id = models.BigIntegerField()
    order_item_id = models.BigIntegerField()
    order_id = models.BigIntegerField()
    order = _to("Order", "order_id", "order_items")
    bundle_id = models.BigIntegerField(null=True)
    product_id = models.BigIntegerField(null=True)
    refund_date = models.TextField(null=True)
    fulfilled_date = models.TextField(null=True)
    sub_total = models.TextField()
    tax_total = models.TextField()
    grand_total = models.TextField()

    class Meta:
        """The table."""

        app_label, managed, db_table = "peers", False, "order_items"
        ordering = ("order_item_id",)


class Subscriber(models.Model):
    """A subscriber; ``email_lower`` is what the database computes for searches."""

    pk = models.CompositePrimaryKey("account_id", "subscriber_id")
    account_id = models.BigIntegerField()
    subscriber_id = models.BigIntegerField()
    renewal_code = models.TextField(null=True)
    email = models.TextField(null=True)
    email_lower = models.TextField(null=True)
    password_md5 = models.TextField(null=True)
    first_name = models.TextField(null=True)
    last_name = models.TextField(null=True)
    delete_date = models.TextField(null=True)

    class Meta:
        """The table."""

        app_label, managed, db_table = "peers", False, "subscribers"


class Subscription(models.Model):
    """A subscription."""

    pk = models.CompositePrimaryKey("account_id", "subscription_id")
    account_id = models.BigIntegerField()
    subscription_id = models.BigIntegerField()
    subscriber_id = models.BigIntegerField()
    subscriber = _to("Subscriber", "subscriber_id", "subscriptions")
    publication_id = models.BigIntegerField()
    mailing_address_id = models.BigIntegerField(null=True)
    billing_address_id = models.BigIntegerField(null=True)
    issues = models.BigIntegerField(null=True)
    copies = models.BigIntegerField(null=True)
    paid_issues_left = models.BigIntegerField(null=True)
    unearned_revenue = models.TextField(null=True)
    type = models.TextField(null=True)
    date_created = models.TextField(null=True)
    date_expired = models.TextField(null=True)
    date_last_renewed = models.TextField(null=True)
    last_purchase_bundle_id = models.BigIntegerField(null=True)
    last_purchase_id = models.BigIntegerField(null=True)
    renew_campaign_active = models.BigIntegerField()
    audit_classification = models.TextField(null=True)
    audit_request_type = models.TextField(null=True)

    class Meta:
        """The table."""

        app_label, managed, db_table = "peers", False, "subscriptions"
        ordering = ("subscription_id",)


class Issue(models.Model):
    """An issue of a publication."""

    pk = models.CompositePrimaryKey("account_id", "issue_id")
    account_id = models.BigIntegerField()
    issue_id = models.BigIntegerField()
    name = models.TextField(null=True)
    date = models.TextField(null=True)

    class Meta:
        """The table."""

        app_label, managed, db_table = "peers", False, "issues"


class ReceivedIssue(models.Model):
    """That a subscription has received an issue."""

    pk = models.CompositePrimaryKey("account_id", "subscription_id", "issue_id")
    account_id = models.BigIntegerField()
    subscription_id = models.BigIntegerField()
    issue_id = models.BigIntegerField()
    subscription = _to("Subscription", "subscription_id", "received")
    issue = _to("Issue", "issue_id", "+")

    class Meta:
        """The table."""

        app_label, managed, db_table = "peers", False, "subscription_issues"
        ordering = ("issue_id",)


class CustomField(models.Model):
    """A custom field."""

    pk = models.CompositePrimaryKey("account_id", "field_id")
    account_id = models.BigIntegerField()
    field_id = models.BigIntegerField()
    name = models.TextField(null=True)
    display_as = models.TextField(null=True)
    type = models.TextField()
    allow_other = models.BigIntegerField()

    class Meta:
        """The table."""

        app_label, managed, db_table = "peers", False, "custom_fields"
        ordering = ("field_id",)


class CustomFieldOption(models.Model):
    """A preset answer of a custom field."""

    pk = models.CompositePrimaryKey("account_id", "option_id")
    account_id = models.BigIntegerField()
    option_id = models.BigIntegerField()
    field_id = models.BigIntegerField()
    field = _to("CustomField", "field_id", "options")
    value = models.TextField(null=True)
    display_as = models.TextField(null=True)
    order = models.BigIntegerField(null=True)

    class Meta:
        """The table."""

        app_label, managed, db_table = "peers", False, "custom_field_options"
        ordering = (F("order").asc(nulls_last=True), "option_id")


class CustomFieldAnswer(models.Model):
    """What a subscriber answered to one custom field; the ids of options are divided by ``|``."""

    pk = models.CompositePrimaryKey("account_id", "subscriber_id", "field_id")
    account_id = models.BigIntegerField()
    subscriber_id = models.BigIntegerField()
    field_id = models.BigIntegerField()
    option_ids = models.TextField(null=True)
    text_value = models.TextField(null=True)

    class Meta:
        """The table."""

        app_label, managed, db_table = "peers", False, "custom_field_answers"
