"""The answers as serializers of Django REST framework."""

from typing import Any

from rest_framework import serializers

from benchmarks.peers.django_models import CustomField, OrderItem, Subscription


class TextField(serializers.CharField):
    """Text, or digits as text; a missing value is the empty string, of CharField it is null."""

    def get_attribute(self, instance: Any) -> Any:
        """Return the value, or the empty string."""
        value = super().get_attribute(instance)
        return "" if value is None else value


class AmountField(serializers.Field):
    """An amount, as a number."""

    def to_representation(self, value: str) -> int | float:
        """Return the number."""
        return float(value) if "." in value else int(value)


class AccountSerializer(serializers.Serializer):
    """An account."""

    account_id = serializers.CharField()
    company_name = TextField()
    email = TextField()
    website = TextField()
    active = serializers.BooleanField()
    api_active = serializers.CharField()
    api_key = TextField()
    api_login = TextField()
    plan = TextField()
    audit_type = serializers.CharField()
    created = TextField()
    master_checkout = TextField()


class OrderItemSerializer(serializers.Serializer):
    """An order item: a bundle or a product."""

    order_item_id = serializers.CharField()
    bundle_id = serializers.CharField()
    product_id = serializers.CharField()
    refund_date = serializers.CharField()
    fulfilled_date = serializers.CharField()
    sub_total = AmountField()
    tax_total = AmountField()
    grand_total = AmountField()

    def to_representation(self, instance: OrderItem) -> dict[str, Any]:
        """Leave out the id that the item does not have."""
        item: dict[str, Any] = super().to_representation(instance)
        del item["product_id" if instance.product_id is None else "bundle_id"]
        return item


class OrderSerializer(serializers.Serializer):
    """An order."""

    order_id = serializers.CharField()
    mailing_address_id = TextField()
    billing_address_id = TextField()
    subscriber_id = serializers.CharField()
    import_name = serializers.CharField()
    user_id = serializers.CharField()
    channel_id = serializers.CharField()
    order_date = TextField()
    is_gift = serializers.BooleanField()
    sub_total = AmountField()
    tax_total = AmountField()
    grand_total = AmountField()
    order_items = OrderItemSerializer(many=True)


class SubscriptionSerializer(serializers.Serializer):
    """A subscription of the list."""

    subscription_id = serializers.CharField()
    publication_id = serializers.CharField()
    mailing_address_id = TextField()
    billing_address_id = TextField()
    issues = TextField()
    copies = TextField()
    paid_issues_left = serializers.CharField()
    unearned_revenue = serializers.CharField()
    type = TextField()
    date_created = TextField()
    date_expired = serializers.CharField()
    date_last_renewed = serializers.CharField()
    last_purchase_bundle_id = serializers.CharField()
    last_purchase_id = serializers.CharField()
    renew_campaign_active = serializers.BooleanField()
    audit_classification = serializers.CharField()
    audit_request_type = serializers.CharField()


class IssueSerializer(serializers.Serializer):
    """An issue that a subscription has received."""

    issue_id = serializers.CharField()
    name = TextField(source="issue.name")
    date = TextField(source="issue.date")


class ReceivedSerializer(serializers.Serializer):
    """A subscription of the login check."""

    subscription_id = serializers.CharField()
    date_created = TextField()
    date_expired = serializers.CharField()
    publication_id = serializers.CharField()
    issues_left = TextField(source="issues")
    type = TextField()
    issues = IssueSerializer(source="received", many=True)

    def to_representation(self, instance: Subscription) -> dict[str, Any]:
        """Write null where there are no issues."""
        subscription: dict[str, Any] = super().to_representation(instance)
        subscription["issues"] = subscription["issues"] or None
        return subscription


class SubscriberSerializer(serializers.Serializer):
    """The subscriber whom the login check recognised."""

    subscriber_id = serializers.CharField()
    renewal_code = TextField()
    email = TextField()
    first_name = TextField()
    last_name = TextField()
    subscriptions = ReceivedSerializer(many=True)


class OptionSerializer(serializers.Serializer):
    """An option that a subscriber chose."""

    option_id = serializers.CharField()
    display_as = TextField()
    value = TextField()


class AnswerSerializer(serializers.Serializer):
    """A custom field with what a subscriber answered; the answers are in the context, by field."""

    field_id = serializers.CharField()
    name = TextField()
    display_as = TextField()
    type = serializers.CharField()
    allow_other = serializers.IntegerField()
    values = serializers.SerializerMethodField()
    text_value = serializers.SerializerMethodField()

    def get_values(self, field: CustomField) -> list[dict[str, Any]] | None:
        """Return the options that were chosen, in the order of the field."""
        answer = self.context["answers"].get(field.field_id)
        if answer is None or not answer.option_ids:
            return None
        chosen = set(map(int, answer.option_ids.split("|")))
        options = [option for option in field.options.all() if option.option_id in chosen]
        return OptionSerializer(options, many=True).data or None

    def get_text_value(self, field: CustomField) -> str | None:
        """Return what was written."""
        answer = self.context["answers"].get(field.field_id)
        return answer.text_value if answer else None
