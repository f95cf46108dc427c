"""Words by which ``guess`` recognises the columns and the values of other systems.

They are English, German and French, as :func:`plain` writes them.
"""

import unicodedata


def plain(text: str) -> str:
    """Return a name without letter case, accents, spaces and signs: ``Straße 1`` is strasse1."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


SUBSCRIBER = frozenset(
    [
        "subscriberid",
        "subscribernumber",
        "subscriberno",
        "subscriber",
        "customerid",
        "customernumber",
        "customerno",
        "customernr",
        "customer",
        "clientid",
        "clientnumber",
        "memberid",
        "membernumber",
        "readerid",
        "readernumber",
        "kundennummer",
        "kundennr",
        "kundenid",
        "kdnr",
        "kunde",
        "abonnentennummer",
        "abonnentennr",
        "abonnentenid",
        "mitgliedsnummer",
        "lesernummer",
        "numeroclient",
        "noclient",
        "nclient",
        "idclient",
        "client",
        "numeroabonne",
        "noabonne",
    ]
)
NUMBER = frozenset(["id", "no", "nr", "number", "nummer", "num", "numero"])
"""Words for the number of a row's record, a subscriber's if no other column has one."""

SUBSCRIPTION = frozenset(
    [
        "subscriptionid",
        "subscriptionnumber",
        "subscriptionno",
        "contractid",
        "contractnumber",
        "contractno",
        "abonummer",
        "abonr",
        "aboid",
        "abonnementnummer",
        "abonnementsnummer",
        "vertragsnummer",
        "vertragsnr",
        "numeroabonnement",
        "noabonnement",
        "numerocontrat",
    ]
)
INVOICE = frozenset(
    [
        "purchaseid",
        "invoiceid",
        "invoicenumber",
        "invoiceno",
        "invoicenr",
        "invoice",
        "paymentid",
        "rechnungsnummer",
        "rechnungsnr",
        "rechnung",
        "belegnummer",
        "belegnr",
        "numerofacture",
        "nofacture",
        "facture",
    ]
)
_COLUMNS = {
    "publications.name": (
        "titel title publication publicationname zeitschrift zeitung magazin magazine newspaper "
        "objekt abo abonnement subscription product produkt titre revue journal"
    ),
    "subscribers.email": (
        "email emailaddress emailadresse mail mailadresse courriel adresseemail adresseelectronique"
    ),
    "subscribers.first_name": "firstname givenname forename vorname rufname prenom",
    "subscribers.last_name": ("lastname surname familyname nachname familienname nom nomdefamille"),
    "subscribers.renewal_code": "renewalcode",
    "subscribers.source": "source quelle herkunft origine",
    "subscribers.delete_date": "deletedate deletedat deleted geloscht geloschtam loschdatum",
    "addresses.company": "company companyname organisation organization firma societe entreprise",
    "addresses.address": (
        "address address1 addressline1 street streetaddress strasse strassenr strassehausnummer "
        "strasseundhausnummer anschrift adresse rue"
    ),
    "addresses.city": "city town ort stadt wohnort ville localite",
    "addresses.state": "state region province bundesland kanton canton departement",
    "addresses.zip_code": "zip zipcode postcode postalcode plz postleitzahl codepostal cp",
    "addresses.country_name": "country countryname land pays",
    "addresses.country_abbreviation": (
        "countrycode countryabbreviation landercode laendercode landkurz lkz codepays"
    ),
    "subscriptions.type": (
        "type subscriptiontype medium mediumtype art typ aboart abotyp bezugsart formule support"
    ),
    "subscriptions.copies": (
        "copies quantity exemplare anzahl menge stuck stuckzahl exemplaires quantite nombre"
    ),
    "subscriptions.issues": (
        "issues issuesleft issuesremaining remainingissues ausgaben restausgaben numerosrestants"
    ),
    "subscriptions.date_created": (
        "datecreated created createdat start startdate startsat begin since seit beginn "
        "beginndatum abobeginn abostart startdatum von debut datedebut depuis"
    ),
    "subscriptions.date_expired": (
        "dateexpired end enddate endsat expires expiresat expiry expirydate expirationdate until "
        "paiduntil paidthrough ende enddatum aboende bis bezahltbis laufzeitbis gultigbis "
        "gueltigbis ablauf ablaufdatum fin datefin jusque echeance"
    ),
    "subscriptions.date_last_renewed": (
        "datelastrenewed lastrenewed renewed renewaldate verlangert verlangertam "
        "verlangerungsdatum daterenouvellement"
    ),
    "subscriptions.unearned_revenue": "unearnedrevenue",
    "subscriptions.paid_issues_left": "paidissuesleft",
    "subscriptions.renew_campaign_active": "renewcampaignactive",
    "purchases.total": (
        "total amount price sum betrag preis summe gesamt gesamtbetrag bruttobetrag montant prix"
    ),
    "purchases.payment_type": (
        "paymenttype paymentmethod payment zahlungsart zahlart zahlweise modepaiement "
        "modedepaiement paiement"
    ),
    "purchases.notes": "notes note remark remarks comment bemerkung notiz kommentar remarque",
}
COLUMNS = {word: target for target, words in _COLUMNS.items() for word in words.split()}
"""The column ``table.column`` of each word."""

YES = frozenset(["yes", "y", "ja", "j", "wahr", "oui", "o", "vrai", "on", "x"])
NO = frozenset(["no", "n", "nein", "falsch", "non", "faux", "off", "-"])
TYPES = {
    **dict.fromkeys(
        ["print", "p", "paper", "druck", "gedruckt", "printabo", "papier", "heft"], "Print"
    ),
    **dict.fromkeys(
        ["digital", "d", "online", "epaper", "numerique", "web", "app", "e"], "Digital"
    ),
    **dict.fromkeys(
        [
            "both",
            "b",
            "combo",
            "combi",
            "kombi",
            "kombiabo",
            "kombination",
            "bundle",
            "printdigital",
            "lesdeux",
        ],
        "Both",
    ),
}
"""The words for the types of a subscription."""
