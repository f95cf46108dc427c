"""What each operation does, when to use it and what to watch for: texts of the OpenAPI document.

They are Markdown. They do not repeat what follows from the contract itself (parameters, fields,
statuses).
"""

INTRODUCTION = """\
With this interface programs read a publisher's subscribers, subscriptions, addresses, questionnaire
answers, orders and mailing lists.

**Where to begin.** To let readers in, use the login check, `GET /2/subscribers/authenticate/`. To
look up one reader, search subscribers, then list their subscriptions. To keep a copy of all data,
take a snapshot once, `GET /snapshot`, and poll the change feed, `GET /2/cdc`, and the deletions,
`GET /deletions`.

**Credentials.** Each operation needs HTTP Basic: the user name is the account's `api_key`, the
password its `api_login`. You see the data of that account and of no other.

**Values.** Identifiers and counts are JSON strings that hold an integer: `"22"`. A value that is
missing is `null` or the empty string, as each field says. Keys are always there, unless their field
says otherwise. Amounts of orders are JSON numbers; read them as decimals.

**Parameters** travel in the query string. The body of a GET is read as well: a JSON object, an
array that holds one JSON object, or a form. The same parameter twice is refused, and so is an
unknown one, so that a mistyped filter does not return everybody. Booleans are also read as `1` and
`0`, and words in any letter case.

**Paths** work with and without a slash at the end, without a redirect. Each serves HEAD as well.
Any other method gets 405 and `Allow: GET, HEAD`.

**Errors** are `{"error": "…"}`: one sentence that says what is wrong and what would be right. Use
the status in programs; the sentences may change. After 429 and 503 wait for as many seconds as
`Retry-After` says, then try again.
"""

TAGS = {
    "interface": "The ten operations of the interface, version 2.",
    "extensions": "What this server adds for programs that keep a copy of the data, and for sites "
    "with a paywall. A program that uses it works with Masthead only.",
    "server": "The state of the server; it needs no credentials.",
}
"""The groups of operations and what they are."""

OPERATIONS = {
    "list_accounts": """\
Returns the accounts that your credentials can see. This is your own account alone, unless your
account is a master account, which sees all.

Use it to check that your credentials work, and to find your `account_id`. Note that the response
contains the credentials themselves, so do not log it.
""",
    "get_account": """\
Returns one account by its id.

Use it if you know the id; otherwise list the accounts. The account of somebody else gets 404, like
one that does not exist. Note that the response contains the credentials themselves, so do not log
it.
""",
    "authenticate_subscriber": """\
Checks a reader's login: either the email address with the password, or the renewal code with the
postal code of one of the reader's addresses. It returns the subscriber with all subscriptions and
the issues that these have received.

Use it when a reader signs in, for instance at a paywall. Watch for the following:

* A login that does not match is not an error: the status is 200 and the body is
  `{"authenticated": false}`. So is a login or password that is empty or missing.
* `authenticated` says who the reader is, not what they may read. Check `date_expired` and
  `issues_left` of the subscriptions; `-1` issues are unlimited.
* If several subscribers match, one with a subscription that has not expired is returned.
* After too many failures for one login the status is 429: ask the reader to wait.
* Both values are in the query string, so keep addresses of this operation out of logs, or send
  them in the body.
""",
    "changes": """\
Returns everything that has changed at `changed_since` or later, without a limit of rows: a list for
each entity that you ask for, with each record as it is now.

Use it to keep a local copy up to date, for instance every minute or every night. Begin with a
snapshot. Then pass the header `Masthead-Changes-Through` of each response as the next
`changed_since`, exactly as it is: your own clock would miss changes. Watch for the following:

* A record can come more than once, so replace the one that you have.
* Store the new time only after all records of the response are stored.
* A time more than five days back gets 410: changes are lost to you, so load everything again from
  the snapshot.
* A response can be large; read it as a stream. One that breaks off is not valid JSON: ask again.
""",
    "get_custom_field_answers": """\
Returns a subscriber's answers to the publisher's questions, with an entry for every question, in
order of `field_id`. An entry without an answer has `null` in `values` and in `text_value`.

Use it to show or fill in a form for one reader. To have the answers of all readers, use the entity
`customfields` of the change feed instead of asking for each one.
""",
    "list_custom_fields": """\
Returns the questions that the publisher asks its subscribers, with their options.

Use it to build a form, or to learn what the ids in answers mean. An option that is not `active` is
no longer offered, but earlier answers may have it.
""",
    "list_subscriptions": """\
Returns subscriptions in order of their ids, at most 100 at a time. Filters are joined with AND, and
bounds are inclusive; without a filter all subscriptions are listed.

Use it to see what a subscriber has (`subscriber_id`), or to find those that end soon
(`max_issues_left`). Watch for the following:

* The number of issues left is the field `issues`. `-1` means unlimited and counts as more than any
  number: `max_issues_left` leaves it out, `min_issues_left` keeps it.
* A full page has a `Link` header with the address of the next one. Or pass the last id as `after`.
* Subscriptions of deleted subscribers and expired subscriptions are listed too.
""",
    "search_subscribers": """\
Finds subscribers by email, name, renewal code or source, in order of their ids, at most 100 at a
time. Filters are joined with AND; without a filter all subscribers are listed.

Use it to find a reader whose id you do not know. Watch for the following:

* The whole value is compared and letter case is ignored. A `*` at the end finds all values that
  begin so.
* An empty value is a filter too: `email=` finds those without an email address.
* Several subscribers may share an email address.
* Deleted subscribers are left out; the change feed shows them.
* A full page has a `Link` header with the address of the next one. Or pass the last id as `after`.
""",
    "get_order": """\
Returns one order with its items, by its id.

Use it to show what a reader has bought and for how much. The ids of orders come from the entity
`orders` of the change feed; this interface has no list of orders.
""",
    "download_mailing_list": """\
Returns the entries of a mailing list: every subscription that gets one issue, with its number of
copies, in order of the subscriptions' ids.

Use it to mail an issue. The ids of lists come from the entity `listdownloads` of the change feed;
take a list when its `status` is `Complete`, before that it may be empty or incomplete. Watch for
grace entries (`is_grace` is `"1"`): these subscriptions have expired, and the issue is sent in the
hope that they are renewed. Names and addresses come from the change feed, by `subscription_id`.
""",
    "snapshot": """\
Returns every record of the entities that you ask for, in the form of the change feed.

Use it to start a copy, or to start again after 410. Then poll the change feed: its first
`changed_since` is the header `Masthead-Changes-Through` of this response. The response can be
large; read it as a stream. One that breaks off is not valid JSON: ask again.

With `Accept: application/x-ndjson` each record is a line, with the name of its entity as in
`entities`: `{"entity":"orders","record":{…}}`. The last line is
`{"changes_through":"…","records":…}`, with the time of the header and the number of lines before
it. A response without this line has broken off: ask again.
""",
    "deletions": """\
Returns for each entity that you ask for the ids of records that were removed at `changed_since` or
later and are not there now, in the order of their removal.

Use it beside the change feed, which cannot show what is gone. Ask for the changes first, then for
the deletions since the same time, and apply them in this order. Go on from the earlier of the two
`Masthead-Changes-Through`. Watch for the following:

* `subscribers` and `customfields` are always empty: a subscriber who has left stays, with a
  `delete_date`.
* What is part of a removed record goes with it and is not listed: the items of an order, the
  entries of a mailing list.
* An id can come more than once, and one that your copy does not have is no mistake.
* A time more than five days back gets 410, as with the change feed.
""",
    "digest": """\
Returns for each entity the number of its records and a digest over all of them.

Use it to prove that a copy is complete: compute the same of the copy, and compare. Both must be of
the same moment: take the copy's changes up to the `Masthead-Changes-Through` of this response
first. Masthead's mirror verifies its copy so.
""",
    "entitlements": """\
Tells what a reader may read now: by publication and format, with the last day, and the same as a
signed token.

Use it for a site with a paywall: ask when a reader signs in, and again when the token ends, not at
every page. Give the reader's `login` and `password` as in the login check, or the `code` with which
the readers' pages sent the reader's browser. Watch for the following:

* The token is a JWT, signed with ES256. `GET /.well-known/jwks.json` has the public keys; `kid` in
  the token's header names one. Check `aud`, which is `account-` with your `account_id`.
* `sub` is an id of the reader for tokens alone. The `subscriber_id` beside the token is that of all
  other operations.
* A token is valid for a day, or less if a subscription ends earlier. A reader without a
  subscription gets an empty list, for an hour.
* A code works once, for two minutes.
* Send a password in the body, since addresses are logged on their way.
* 404: the publisher has not switched entitlements on.
""",
    "health": """\
Tells whether the server is up and its database responds.

Use it for monitoring and for load balancers. It needs no credentials. While the database does not
respond, or belongs to a newer version than the server, the status is 503.
""",
}
"""The description of each operation, by its name."""

ERRORS = {
    400: "A parameter is missing, unknown, given twice or cannot be read. Correct the request.",
    401: "The request carries no credentials, or none that can be read. Send HTTP Basic.",
    403: "The credentials open no account: they are wrong, revoked, or of an account that is not "
    "active. Ask the publisher.",
    404: "The account has no record of this id. The id of another account's record gets the same. "
    "For entitlements: the publisher has not switched them on.",
    408: "Not all of the request came in time.",
    410: "`changed_since` is more than five days back, or before the service was restored from a "
    "backup. The client has to load everything again from `GET /snapshot?entities=…`.",
    413: "The body is larger than the server reads.",
    414: "The request target is longer than the server reads.",
    417: "The client expects something other than 100-continue.",
    429: "More requests than the account may make in a second, or too many failed logins for this "
    "login. Wait for as long as `Retry-After` says.",
    431: "The header fields are larger than the server reads.",
    500: "A fault of the server. The sentence gives the request's id, with which the operator "
    "finds it in the log.",
    503: "The database is not available, the server is being upgraded, or too many requests wait. "
    "Try again after `Retry-After`.",
}
"""What each error means and what to do, by status."""
