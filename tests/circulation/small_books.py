"""The books of a small publisher as import files: three issues, six readers, every kind of term.

The tests of reports say what they add up to, worked out by hand.
"""

from __future__ import annotations

BOOKS: dict[str, str] = {
    "books.csv": "books_id,opened_on,opened_at\n1,2025-09-10,2025-09-10 08:00:00\n",
    "publications.csv": "publication_id,name,issues_per_year\n1,Tide,12\n2,Weekly,52\n",
    "list_downloads.csv": (
        "mailing_list_id,name,status,count,is_gap,parent_mailing_list_id,date_created\n"
        "1,Tide October 2025,Complete,3,0,,2025-09-20 09:00:00\n"
        "2,Tide November 2025,Complete,3,0,,2025-10-20 09:00:00\n"
        "3,Tide November 2025,Complete,1,1,2,2025-11-05 09:00:00\n"
    ),
    "issues.csv": (
        "issue_id,publication_id,name,date,closed_at,mailing_list_id\n"
        "9,1,September 2025,2025-09-01,2025-09-10 08:00:00,\n"
        "10,1,October 2025,2025-10-01,2025-09-20 09:00:00,1\n"
        "11,1,November 2025,2025-11-01,2025-10-20 09:00:00,2\n"
        "12,1,December 2025,2025-12-01,,\n"
        "20,2,5 December 2025,2025-12-05,,\n"
    ),
    "subscribers.csv": "subscriber_id\n1\n2\n3\n4\n5\n6\n",
    "addresses.csv": (
        "address_id,subscriber_id,state,country_name,country_abbreviation\n"
        "1,1,NY,United States,US\n"
        "2,2,ON,Canada,CA\n"
        "4,4,NY,United States,US\n"
        "5,5,,,DE\n"
        "6,6,NY,United States,US\n"
    ),
    "subscriptions.csv": (
        "subscription_id,subscriber_id,publication_id,mailing_address_id,issues,copies,type,"
        "date_created,date_expired,renew_campaign_active,audit_classification,"
        "audit_request_type,begins_on\n"
        "1,1,1,1,4,1,Print,2025-01-02,2026-03-31,1,A1,W,2025-09-02\n"
        "2,2,1,2,7,3,Both,2025-01-02,2026-06-30,1,A1,I,2025-09-02\n"
        "3,3,1,,0,1,Digital,2025-01-02,2025-10-31,1,,,2025-09-02\n"
        "4,4,1,4,2,2,Print,2025-10-25,2026-01-31,0,,,2025-11-01\n"
        "5,5,1,5,11,1,Print,2025-10-15,2026-10-31,1,B,W,2025-11-01\n"
        "6,6,2,6,-1,1,Both,2025-10-10,,0,,,2025-12-05\n"
    ),
    "orders.csv": (
        "order_id,subscriber_id,order_date,paid_on\n"
        "1,4,2025-10-25 10:00:00,\n"
        "2,2,2025-11-12 10:00:00,\n"
        "3,5,2025-10-15 10:00:00,2025-10-15\n"
        "4,3,2025-10-02 10:00:00,2025-10-02\n"
        "5,6,2025-10-10 10:00:00,2025-10-10\n"
    ),
    "order_items.csv": ("order_item_id,order_id,bundle_id\n1,1,1\n2,2,1\n3,3,1\n4,4,1\n5,5,2\n"),
    "terms.csv": (
        "term_id,subscription_id,order_item_id,issues,issues_left,price,paid_on,kind,ended_at\n"
        "1,1,,6,4,1000,2025-09-10,opening,\n"
        "2,2,,3,1,1000,2025-09-10,opening,\n"
        "3,4,1,3,2,0,,free,\n"
        "4,5,3,12,11,3600,2025-10-15,paid,\n"
        "5,3,4,12,0,2400,2025-10-02,paid,2025-10-30 12:00:00\n"
        "6,2,2,6,6,1500,,paid,\n"
        "7,6,5,-1,-1,1200,2025-10-10,paid,\n"
    ),
    "revenue.csv": (
        "revenue_id,term_id,issue_id,kind,cents,booked_on\n"
        "1,1,,received,1000,2025-09-10\n"
        "2,2,,received,1000,2025-09-10\n"
        "3,1,10,earned,166,2025-10-01\n"
        "4,2,10,earned,333,2025-10-01\n"
        "5,4,,received,3600,2025-10-15\n"
        "6,5,,received,2400,2025-10-02\n"
        "7,5,,refunded,2400,2025-10-30\n"
        "8,1,11,earned,167,2025-11-01\n"
        "9,2,11,earned,333,2025-11-01\n"
        "10,4,11,earned,300,2025-11-01\n"
        "11,7,,received,1200,2025-10-10\n"
        "12,7,20,earned,100,2025-12-05\n"
    ),
    "subscription_issues.csv": (
        "subscription_id,issue_id,mailing_list_id,term_id,is_grace,address_id\n"
        "3,9,,,0,\n"
        "1,10,1,1,0,1\n"
        "2,10,1,2,0,2\n"
        "3,10,1,,1,\n"
        "1,11,2,1,0,1\n"
        "2,11,2,2,0,2\n"
        "5,11,2,4,0,5\n"
        "4,11,3,3,0,4\n"
    ),
    "mailing_list_entries.csv": (
        "mailing_list_id,subscription_id,copies,is_grace,is_paid,type\n"
        "1,1,1,0,1,Print\n"
        "1,2,2,0,1,Both\n"
        "1,3,1,1,0,Digital\n"
        "2,1,1,0,1,Print\n"
        "2,2,3,0,1,Both\n"
        "2,5,1,0,1,Print\n"
        "3,4,2,0,0,Print\n"
    ),
    "renewal_efforts.csv": "publication_id,effort,issues_left\n1,1,3\n1,2,1\n1,3,-1\n",
    "renewals_sent.csv": (
        "term_id,effort,subscription_id,sent_on\n"
        "1,1,1,2025-10-05\n1,2,1,2025-11-10\n2,1,2,2025-10-25\n"
    ),
}
