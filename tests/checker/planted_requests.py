"""Other deviations than those of records, one at a time, and how the checker names each."""

from __future__ import annotations

from tests.checker.altering import Reply
from tests.checker.edits import (
    ACCOUNT,
    ACCOUNTS,
    ANSWERS,
    CDC,
    FIELDS,
    GET_ACCOUNT,
    GET_ACCOUNTS,
    GET_ANSWERS,
    GET_CDC,
    GET_FIELDS,
    GET_LIST,
    GET_LOGIN,
    GET_ORDER,
    GET_SUBSCRIBERS,
    GET_SUBSCRIPTIONS,
    HTML,
    LIST,
    LOGIN,
    ORDER,
    SUBSCRIBERS,
    SUBSCRIPTIONS,
    Deviation,
    accepts,
    any_key_opens,
    any_login_is_right,
    bytes_of,
    changed_since_overlooked,
    differs,
    documented_path_redirects,
    each,
    head_refused,
    headers,
    ignores,
    instead,
    is_,
    lacking_in_the_long_run,
    more_than_a_hundred,
    noted,
    offset_overlooked,
    ok,
    overlapping,
    put,
    refusing_unescaped_plus,
    row_limit,
    says,
    slash_redirects,
    total_limit,
    when_accepted,
    when_refused,
    without_arrays,
    without_bodies,
    without_limit,
    without_query,
)

DEVIATIONS_OF_REQUESTS: dict[str, Deviation] = {
    "another envelope": differs(
        says(ACCOUNTS, lambda content: {"data": content}), "Operation 1", GET_ACCOUNTS, "accounts"
    ),
    "a member beside the envelope": differs(
        says(SUBSCRIBERS, lambda content: {**content, "total": 7}),
        *("Operation 8", GET_SUBSCRIBERS, "subscribers"),
    ),
    "an array instead of an object": differs(
        says(SUBSCRIPTIONS, lambda content: content["subscriptions"]),
        *("Operation 7", GET_SUBSCRIPTIONS, "subscriptions"),
    ),
    "an order in an envelope": differs(
        says(ORDER, lambda content: {"order": content}), "Order", GET_ORDER, "order_items"
    ),
    "answers in an envelope": differs(
        says(ANSWERS, lambda content: {"custom_fields": content}), "Operation 5", GET_ANSWERS
    ),
    "value_options is null": differs(
        says(FIELDS, each(None, put(value_options=None))),
        *("Custom field definition", GET_FIELDS, "[].value_options"),
    ),
    "a redirect to the path with a slash": noted(slash_redirects, "Endpoints", "GET /2/accounts"),
    "a redirect of a documented path": differs(
        documented_path_redirects, "Operation 6", GET_FIELDS
    ),
    "an error in HTML": noted(
        instead(is_(ORDER, 404), Reply(404, b"<h1>Not Found</h1>", HTML)),
        *("Errors", GET_ORDER, "error"),
    ),
    "an unknown path in HTML": noted(
        instead(is_(r"/2/nothing.*", 404), Reply(404, b"<h1>Not Found</h1>", HTML)),
        *("Errors", "GET /2/nothing-is-here/", "error"),
    ),
    "an error without a sentence": noted(
        instead(is_(ORDER, 404), Reply(404, b'{"code": 7}')), "Errors", GET_ORDER, "error"
    ),
    "an unknown order as a success": differs(
        instead(is_(ORDER, 404), ok({})), "Order", GET_ORDER, "order_id"
    ),
    "an unknown account as a success": differs(
        instead(is_(ACCOUNT, 404), ok({"account": None})),
        *("Account", GET_ACCOUNT, "account"),
    ),
    "an unknown list as a success": noted(
        instead(is_(LIST, 404), ok([])), "Errors", GET_LIST, "mailing_list_id"
    ),
    "a fault of the server": differs(
        instead(is_(FIELDS, 200), Reply(500, b'{"error": "no"}')), "Operation 6", GET_FIELDS
    ),
    "a response that is cut": differs(
        instead(is_(FIELDS, 200), Reply(200, b"[]", is_cut=True)), "Endpoints", GET_FIELDS[4:]
    ),
    "another version served": noted(
        instead(is_(r"/1/accounts/", 404), ok({"accounts": []})), "Versioning", "GET /1/accounts/"
    ),
    "no challenge": noted(
        headers(SUBSCRIBERS, Www_Authenticate=""),
        *("Authentication", GET_SUBSCRIBERS, "WWW-Authenticate"),
    ),
    "any credentials open it": noted(any_key_opens, "Authentication", GET_ACCOUNTS),
    "no credentials needed": noted(
        instead(lambda _, reply: reply.status == 401, ok({"subscribers": []})),
        *("Authentication", GET_SUBSCRIBERS),
    ),
    "secrets of an inactive account": differs(
        says(ACCOUNTS, each("accounts", put(api_active="0"))),
        *("Authentication", GET_ACCOUNTS, "accounts[].api_key"),
    ),
    "an account differs from the list": differs(
        says(ACCOUNT, lambda content: content["account"].update(plan="another")),
        *("Operation 2", GET_ACCOUNT, "account.plan"),
    ),
    "a wrong login as an error": differs(
        instead(
            lambda _asked, reply: b'"authenticated":false' in reply.body,
            Reply(401, b'{"error": "no"}'),
        ),
        *("Operation 3", GET_LOGIN, "authenticated"),
    ),
    "a wrong login with a reason": differs(
        says(LOGIN, when_refused(lambda content: {**content, "reason": "unknown"})),
        *("Operation 3", GET_LOGIN, "authenticated"),
    ),
    "a wrong login as a string": differs(
        says(LOGIN, when_refused(lambda _: {"authenticated": "false"})),
        *("Operation 3", GET_LOGIN, "authenticated"),
    ),
    "any login is right": differs(any_login_is_right, "Operation 3", GET_LOGIN, "authenticated"),
    "no login is right": differs(
        says(LOGIN, lambda _: {"authenticated": False}), "Operation 3", GET_LOGIN, "authenticated"
    ),
    "subscribers as an array": differs(
        says(LOGIN, when_accepted(lambda c: {**c, "subscribers": [c["subscribers"]]})),
        *("Operation 3", GET_LOGIN, "subscribers"),
    ),
    "nested subscriptions of others": differs(
        says(LOGIN, when_accepted(lambda c: c["subscribers"].update(subscriptions=[]))),
        *("Operation 3", GET_LOGIN, "subscribers.subscriptions[].subscription_id"),
    ),
    "nested issues named as in the list": differs(
        says(
            LOGIN,
            when_accepted(
                lambda c: (
                    [one.pop("issues_left") for one in c["subscribers"]["subscriptions"]] and c
                )
            ),
        ),
        *("Subscription", GET_LOGIN, "subscribers.subscriptions[].issues_left"),
    ),
    "the limit overlooked": differs(without_limit, "Limits", GET_SUBSCRIPTIONS, "limit"),
    "parameters read from bodies alone": noted(
        without_query, "Endpoints", GET_SUBSCRIPTIONS, "limit"
    ),
    "more than a hundred": differs(more_than_a_hundred, "Limits", GET_SUBSCRIPTIONS, "limit"),
    "a limit of 0 accepted": noted(
        instead(accepts("limit", 400), ok({"subscriptions": [], "subscribers": []})),
        *("Operation 7", GET_SUBSCRIPTIONS, "limit"),
    ),
    "unknown filters overlooked": noted(
        ignores(SUBSCRIPTIONS, "no_such_filter"), "Operation 7", GET_SUBSCRIPTIONS, "no_such_filter"
    ),
    "ids twice in a list": differs(
        says(SUBSCRIPTIONS, each("subscriptions", put(subscription_id="7"))),
        *("Operation 7", GET_SUBSCRIPTIONS, "subscriptions[].subscription_id"),
    ),
    "ids twice in the feed": differs(
        says(CDC, each("addresses", put(address_id="7"))),
        "Address",
        GET_CDC,
        "addresses[].address_id",
    ),
    "a renewal code twice": differs(
        says(CDC, each("subscribers", put(renewal_code="AAAAA"))),
        *("Subscriber", GET_CDC, "subscribers[].renewal_code"),
    ),
    "a list in descending order": noted(
        says(SUBSCRIBERS, lambda content: content["subscribers"].reverse()),
        *("Operation 8", GET_SUBSCRIBERS, "subscribers[].subscriber_id"),
    ),
    "pages that overlap": noted(overlapping, "Limits", GET_SUBSCRIPTIONS, 'Link: rel="next"'),
    **{
        f"the filter {name} overlooked": differs(
            ignores(SUBSCRIPTIONS, name), "Operation 7", GET_SUBSCRIPTIONS, name
        )
        for name in (
            *("campaign_active", "copies", "issues_left", "publication_id", "subscriber_id"),
            *("min_copies", "max_copies", "min_issues_left", "max_issues_left", "type"),
        )
    },
    **{
        f"the search by {name} overlooked": differs(
            ignores(SUBSCRIBERS, name), "Operation 8", GET_SUBSCRIBERS, name
        )
        for name in ("email", "first_name", "last_name", "renewal_code", "source")
    },
    "bodies overlooked": noted(without_bodies, "Endpoints", GET_SUBSCRIPTIONS, "limit"),
    "bodies that are arrays overlooked": noted(
        without_arrays, "Endpoints", GET_SUBSCRIPTIONS, "limit"
    ),
    "a subscription differs from the feed": differs(
        says(CDC, each("subscriptions", put(copies="77"))),
        *("Subscription", GET_SUBSCRIPTIONS, "subscriptions[].copies"),
    ),
    "a subscriber differs from the feed": differs(
        says(CDC, each("subscribers", put(last_name="Another"))),
        *("Subscriber", GET_SUBSCRIBERS, "subscribers[].last_name"),
    ),
    "an order differs from the feed": differs(
        says(CDC, each("orders", put(sub_total=1.25))), "Operation 9", GET_ORDER, "sub_total"
    ),
    "a response differs from its definition": differs(
        says(ANSWERS, each(None, put(display_as="Another"))),
        "Operation 5",
        GET_ANSWERS,
        "[].display_as",
    ),
    "a count that is not that of the entries": noted(
        says(CDC, each("list_downloads", put(count="77777"))),
        *("List download", GET_CDC, "list_downloads[].count"),
    ),
    "a key of the feed missing if it is empty": differs(
        says(CDC, lambda c: {key: c[key] for key in c if key != "purchases"}),
        *("Operation 4", GET_CDC, "purchases"),
    ),
    "custom fields under another key": differs(
        says(
            CDC,
            lambda c: {"customfields" if key == "custom_fields" else key: c[key] for key in c},
        ),
        *("Operation 4", GET_CDC, "custom_fields"),
    ),
    "orders under another key": noted(
        says(CDC, lambda c: {"order" if key == "orders" else key: c[key] for key in c}),
        *("Operation 4", GET_CDC, "orders"),
    ),
    "entities that were not requested": differs(
        says(CDC, lambda c: {**c, "purchases": c.get("purchases", [])}),
        *("Operation 4", GET_CDC, "addresses"),
    ),
    "a row limit of all entities together": differs(
        says(CDC, total_limit), "Limits", GET_CDC, "orders"
    ),
    "records that only a shorter time shows": differs(
        lacking_in_the_long_run, "Limits", GET_CDC, "addresses"
    ),
    "a row limit of each entity": noted(says(CDC, row_limit), "Limits", GET_CDC),
    "a time too long ago accepted": noted(
        instead(is_(CDC, 410), ok({"list_downloads": []})), "Limits", GET_CDC, "changed_since"
    ),
    "the future accepted": noted(
        instead(accepts("changed_since", 400), ok({"list_downloads": []})),
        *("Operation 4", GET_CDC, "changed_since"),
    ),
    "changed_since overlooked": differs(
        changed_since_overlooked, "Operation 4", GET_CDC, "changed_since"
    ),
    "the offset of a time overlooked": differs(
        offset_overlooked, "Operation 4", GET_CDC, "changed_since"
    ),
    "an unescaped plus refused": noted(
        refusing_unescaped_plus, "Operation 4", GET_CDC, "changed_since"
    ),
    "no header for the next time": noted(
        headers(CDC, Masthead_Changes_Through=""),
        *("Operation 4", GET_CDC, "Masthead-Changes-Through"),
    ),
    "no snapshot": noted(
        instead(is_(r"/snapshot", 200), Reply(404, b"")), "Operation 4", "GET /snapshot"
    ),
    "HEAD refused": noted(head_refused, "Endpoints", "HEAD /2/accounts/"),
    "a method too many": noted(
        instead(lambda asked, _: asked.method == "PROPFIND", ok({"accounts": []})),
        *("Endpoints", "PROPFIND /2/accounts/"),
    ),
    "another method refused in HTML": noted(
        instead(
            lambda asked, _: asked.method == "PROPFIND",
            Reply(501, b"<h1>Not Implemented</h1>", HTML),
        ),
        *("Endpoints", "PROPFIND /2/accounts/"),
    ),
    "no Allow": noted(headers(ACCOUNTS, Allow=""), "Endpoints", "PROPFIND /2/accounts/", "Allow"),
    "personal data that caches may store": noted(
        headers(SUBSCRIBERS, Cache_Control=""), "Conventions", GET_SUBSCRIBERS, "Cache-Control"
    ),
    "another content type": differs(
        headers(SUBSCRIPTIONS, Content_Type="text/html"),
        "Conventions",
        GET_SUBSCRIPTIONS,
        "Content-Type",
    ),
    "half a character": differs(
        bytes_of(SUBSCRIBERS, b'"first_name":"', b'"first_name":"\\ud800'),
        "Conventions",
        GET_SUBSCRIBERS,
    ),
    "bytes that are not UTF-8": differs(
        bytes_of(SUBSCRIBERS, b'"first_name":"', b'"first_name":"\xe9'),
        "Conventions",
        GET_SUBSCRIBERS,
    ),
    "NaN": differs(
        bytes_of(ORDER, b'"grand_total":', b'"grand_total":NaN,"x":'), "Conventions", GET_ORDER
    ),
    "a member twice": differs(
        bytes_of(ORDER, b'"is_gift":', b'"is_gift":true,"is_gift":'), "Conventions", GET_ORDER
    ),
    "text after the JSON": differs(
        bytes_of(FIELDS, b"[{", b"<!-- -->[{"), "Conventions", GET_FIELDS
    ),
}
