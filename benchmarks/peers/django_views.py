"""The views of the peer on Django REST framework, and their paths."""

from datetime import UTC, datetime
from hashlib import md5

from django.db.models import Exists, OuterRef, Prefetch, Q
from django.http import Http404
from django.urls import path
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks.peers.django_models import (
    CustomField,
    CustomFieldAnswer,
    Order,
    ReceivedIssue,
    Subscriber,
    Subscription,
)
from benchmarks.peers.django_wire import (
    AccountSerializer,
    AnswerSerializer,
    OrderSerializer,
    SubscriberSerializer,
    SubscriptionSerializer,
)


@api_view()
def get_account(request: Request, account_id: int) -> Response:
    """Answer the caller's own account."""
    if account_id != request.user.account_id:
        raise Http404
    return Response({"account": AccountSerializer(request.user).data})


@api_view()
def get_order(request: Request, order_id: int) -> Response:
    """Answer one order."""
    found = (
        Order.objects.filter(account_id=request.user.account_id, order_id=order_id)
        .prefetch_related("order_items")
        .first()
    )
    if found is None:
        raise Http404
    return Response(OrderSerializer(found).data)


@api_view()
def list_subscriptions(request: Request) -> Response:
    """Answer the subscriptions behind the id ``after``."""
    after, limit = (
        int(request.query_params.get(name, default))
        for name, default in (("after", -1), ("limit", 100))
    )
    found = Subscription.objects.filter(
        account_id=request.user.account_id, subscription_id__gt=after
    )[:limit]
    return Response({"subscriptions": SubscriptionSerializer(found, many=True).data})


@api_view()
def get_answers(request: Request, subscriber_id: int) -> Response:
    """Answer what a subscriber answered to each custom field."""
    account_id = request.user.account_id
    known = Subscriber.objects.filter(account_id=account_id, subscriber_id=subscriber_id)
    if not known.exists():
        raise Http404
    answers = CustomFieldAnswer.objects.filter(account_id=account_id, subscriber_id=subscriber_id)
    by_field = {answer.field_id: answer for answer in answers}
    fields = CustomField.objects.filter(account_id=account_id).prefetch_related("options")
    return Response(AnswerSerializer(fields, many=True, context={"answers": by_field}).data)


@api_view()
def authenticate(request: Request) -> Response:
    """Answer whose email and password these are, as ``queries.recognised`` finds it."""
    login, password = (request.query_params.get(name, "") for name in ("login", "password"))
    today = datetime.now(UTC).date().isoformat()
    current = Subscription.objects.filter(
        Q(date_expired=None) | Q(date_expired__gte=today),
        account_id=OuterRef("account_id"),
        subscriber_id=OuterRef("subscriber_id"),
    )
    received = ReceivedIssue.objects.select_related("issue")
    found = (
        Subscriber.objects.filter(
            account_id=request.user.account_id,
            email_lower=login.lower(),
            password_md5=md5(password.encode(), usedforsecurity=False).hexdigest(),
            delete_date=None,
        )
        .order_by(Exists(current).desc(), "subscriber_id")
        .prefetch_related("subscriptions", Prefetch("subscriptions__received", received))
        .first()
    )
    if found is None:
        return Response({"authenticated": False})
    return Response({"authenticated": True, "subscribers": SubscriberSerializer(found).data})


urlpatterns = [
    path("2/accounts/<int:account_id>/", get_account),
    path("2/orders/<int:order_id>", get_order),
    path("2/subscriptions/", list_subscriptions),
    path("2/customfields/<int:subscriber_id>", get_answers),
    path("2/subscribers/authenticate/", authenticate),
]
