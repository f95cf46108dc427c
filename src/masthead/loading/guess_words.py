"""Words by which ``guess`` recognises the columns and the values of other systems.

They are English, German and French, and the usual ones of other languages, as :func:`plain` writes
them.
"""

import re
import unicodedata


def plain(text: str) -> str:
    """Return a name without letter case, accents, spaces and signs: ``Straße 1`` is strasse1."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _numbers_of(things: str) -> frozenset[str]:
    """Return the names of a number of something, such as ``customerid``, ``numeroclient``."""
    return frozenset(
        word
        for thing in things.split()
        for number in _NUMBER.split()
        for word in (f"{thing}{number}", f"{number}{thing}", f"{number}de{thing}")
    )


_NUMBER = (
    "id no nr num number numero nummer code key ref reference uid uuid guid kennung nro n numer"
)
_READER = (
    "subscriber customer client reader member patron supporter donor kunden kunde kd abonnenten "
    "abonnent mitglieds mitglied leser klant klanten lid lidmaatschap abonnee cliente socio "
    "suscriptor abonado abbonato adherent membre lecteur abonne kund medlem medlems prenumerant"
)
_PERSON = (
    "contact account user constituent person external profile kontakt debitoren debitor adress "
    "personen benutzer relatie contacto contatto utilisateur compte"
)

SUBSCRIBER = _numbers_of(_READER)
"""Numbers of a subscriber."""

SOMEBODY = _numbers_of(_PERSON)
"""Numbers of a person who can be the subscriber."""

SUBSCRIPTION = _numbers_of(
    "subscription contract agreement abo abonnement abonnements vertrag vertrags contrat "
    "prenumeration suscripcion contrato abbonamento contratto"
)
MEMBERSHIP = _numbers_of("membership mitgliedschafts")
"""Numbers of a membership: the member's, or the contract's if the member has another one."""

INVOICE = _numbers_of(
    "purchase invoice payment receipt rechnung rechnungs beleg facture factuur"
) | _words("invoice rechnung facture beleg factuur")

NUMBER = _words(f"{_NUMBER} recordid lfdnr")
"""Words for the number of a row's record, a subscriber's if no other column has one."""

READER = _words(_READER) | _words("contact person kontakt debitor")
"""A subscriber's number if the values are numbers, and otherwise a name."""

CONTRACT = _words("abo abonnement subscription contract vertrag")
"""A subscription's number if the values are all different numbers."""

NAME = _words(
    "name fullname displayname contactname customername clientname membername readername "
    "subscribername recipientname addressee kundenname abonnentenname mitgliedsname namevorname "
    "vornamename vornamenachname nachnamevorname vorundnachname empfanger nomcomplet nomprenom "
    "prenomnom nometprenom naam volledigenaam nombrecompleto nomecompleto nominativo namn"
)
"""Columns of whole names."""

HOUSE_NUMBER = _words(
    "housenumber houseno streetnumber streetno hausnummer hausnr huisnummer numerorue"
)
SECOND_LINE = _words(
    "address2 addressline2 addr2 street2 streetline2 streetaddress2 adresszusatz adresse2 "
    "adresszeile2 "
    "zusatz complement complementadresse apt apartment suite unit aptsuite toevoeging "
    "supplementaladdress supplementaladdress1"
)
GROUPS = {
    "billing": re.compile("billing|billto|invoice|payer|rechnungs|rechnung|facturation|factuur"),
    "shipping": re.compile(
        "shipping|shipto|delivery|mailto|mailing|recipient|lieferung|liefer|versand|livraison"
        "|verzend|primary|default|home"
    ),
}
"""What stands before the parts of an address, by the kind of the address."""

PARTS = {
    "subscription": re.compile("subscriptions?|memberships?|abonnements?|abo"),
    "subscriber": re.compile(
        "customers?|members?|subscribers?|contacts?|buyers?|users?(?!name)|readers?"
        "|accounts?|person"
        "|address(?:es)?|adresse?|kunden?|purchase|associated"
    ),
}
"""What stands before the parts of a subscription and of a person."""

PASSWORD = re.compile(
    "passw|pwd|userpass|^pass$|kennwort|motdepasse|contrasena|wachtwoord|losenord"
)
"""Finds names of columns of passwords or their digests."""

SECRET = re.compile(
    f"{PASSWORD.pattern}|secret|token|hash|salt$|apikey|accesskey|^pin$|cvv|cvc|iban"
    "|cardnumber|creditcard|kreditkarte|bankaccount|kontonummer"
)
"""Finds names of columns whose values are not shown."""

IDENTIFIER = re.compile(
    r"(?i:(?:^|[\W_])(?:id|no|nr|num|number|nummer|code|key|uid|uuid|ref)(?:[\W_]|$)|uid$)"
    r"|[a-z]I[dD]$"
)
"""Finds names of columns that look like those of a number."""

NO_KEY = re.compile(
    "zip|post|plz|phone|tel|fax|mobil|handy|rating|year|jahr|birth|date|datum|amount|price|total"
    "|betrag|quantity|transaction|order|invoice|utm|latitude|longitude|ipaddress"
)
"""Finds names of columns whose values differ by chance."""

SALUTATIONS = _words(
    "mr mrs ms miss mx dr drs prof professor sir rev herr frau hr fr familie mme mlle mm monsieur "
    "madame mademoiselle sr sra srta don dona sig dott dhr mevr mevrouw firma herrundfrau mrandmrs"
)
"""Forms of address, which stand in columns that are called ``Title``."""

NOTES = re.compile(
    "generated|exported|printed|generiert|erstellt|exportiert|gedruckt|stand|numberof|endof|page"
    "|seite"
)
"""Words with which a line below a table begins that is no record."""

UNSURE = _words(
    "product produkt productname plan planname tier level membership membershiptype "
    "membershiplevel subscription created createdat createdon datecreated joined joinedat "
    "registered renewaldate renews from to st pub end ende nextpaymentdate currentperiodend "
    "renewby state note notes type"
)
"""Names of columns that often have something else."""

_COLUMNS = {
    "publications.name": (
        "titel title publication publicationname zeitschrift zeitung magazin magazine newspaper "
        "objekt blatt pub abo abonnement subscription product produkt productname planname plan "
        "tier level "
        "membershiptype membershiplevel titre revue journal tijdschrift membership"
    ),
    "subscribers.email": (
        "email emailaddress emailadresse mail mailadresse courriel adresseemail "
        "adresseelectronique useremail customeremail memberemail subscriberemail correo "
        "correoelectronico emailadres epost email1 primaryemail"
    ),
    "subscribers.first_name": (
        "firstname first givenname forename vorname rufname prenom voornaam nombre fornamn fname "
        "firstname1"
    ),
    "subscribers.last_name": (
        "lastname last surname familyname nachname familienname nom nomdefamille achternaam "
        "apellido apellidos cognome efternamn lname"
    ),
    "subscribers.renewal_code": "renewalcode",
    "subscribers.source": "source quelle herkunft origine",
    "subscribers.delete_date": "deletedate deletedat deleted geloscht geloschtam loschdatum",
    "addresses.company": (
        "company companyname organisation organization organizationname firmenname firma societe "
        "entreprise"
    ),
    "addresses.address": (
        "address address1 addressline1 street streetaddress strasse strassenr strassehausnummer "
        "strasseundhausnummer strasseundnr strasseundnummer addr addr1 anschrift adresse rue "
        "address1street streetline1 straat "
        "adresszeile1 adresse1 streetaddress1 calle direccion indirizzo gata via"
    ),
    "addresses.city": (
        "city town ort stadt wohnort ville localite locality suburb plaats woonplaats ciudad "
        "citta stad"
    ),
    "addresses.state": (
        "state st region province provincecode stateprovince county bundesland kanton canton "
        "departement statecode stateregion provincia"
    ),
    "addresses.zip_code": (
        "zip zipcode postcode postalcode zippostalcode plz postleitzahl codepostal cp "
        "codigopostal cap postnummer"
    ),
    "addresses.country_name": "country countryname land pays pais paese countryregion",
    "addresses.country_abbreviation": (
        "countrycode countryabbreviation landercode laendercode landkurz lkz codepays"
    ),
    "subscriptions.type": (
        "type subscriptiontype medium mediumtype format edition art typ aboart abotyp bezugsart "
        "formule support"
    ),
    "subscriptions.copies": (
        "copies quantity qty exemplare anzahl anz menge stuck stuckzahl exemplaires quantite ex "
        "expl"
    ),
    "subscriptions.issues": (
        "issues issuesleft issuesremaining remainingissues ausgaben restausgaben numerosrestants"
    ),
    "subscriptions.date_created": (
        "datecreated created createdat createdon from start starts startdate startsat begin "
        "since seit beginn "
        "startedat subscribedat subscribed joined joineddate datejoined joindate joinedat "
        "membersince registered dateregistered patronagesincedate beginndatum abobeginn abostart "
        "startdatum von debut datedebut depuis"
    ),
    "subscriptions.date_expired": (
        "dateexpired end ends to enddate endsat expires expiresat expiry expirydate "
        "expirationdate until "
        "expiration expireson expired validuntil validto paidto renewaldue renewby "
        "currentperiodend currenttermend nextpaymentdate paiduntil paidthrough paidthru renews "
        "findabonnement ende enddatum "
        "aboende bis bezahltbis laufzeitbis gultigbis gueltigbis ablauf ablaufdatum fin datefin "
        "jusque echeance"
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

NUMBERS = SUBSCRIBER | SOMEBODY | SUBSCRIPTION | MEMBERSHIP | INVOICE | NUMBER
KNOWN = NUMBERS | READER | NAME | HOUSE_NUMBER | SECOND_LINE | COLUMNS.keys()
"""All words for columns."""

EMPTY = frozenset(
    ["NULL", "null", "N/A", "n/a", "None", "none", "Never", "\\N", "--", "0000-00-00"]
)
"""Cells that stand for no value."""

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
            "printanddigital",
            "papiernumerique",
            "printonline",
            "lesdeux",
        ],
        "Both",
    ),
}
"""The words for the types of a subscription."""
