"""Names, streets, cities, companies and remarks for made-up readers.

Cities, postal codes and coordinates are real; people, companies and email addresses are made up
(RFC 2606 reserves the email domains). A few entries are awkward on purpose: apostrophes, composed
and combining accents, quotes, commas, line breaks, emoji.

A change to a list or its order changes all files of a seed.
"""

import unicodedata
from typing import NamedTuple


class Name(NamedTuple):
    """A first or last name, and its form in email addresses: lower-case ASCII letters."""

    text: str
    ascii: str


class Place(NamedTuple):
    """A city: its postal codes, with ``#`` for a digit and ``@`` for a letter, and its centre."""

    city: str
    state: str
    postal_codes: tuple[str, ...]
    latitude: float
    longitude: float


class Country(NamedTuple):
    """A country: its names and streets, and its sales tax in hundredths of a percent."""

    name: str
    abbreviation: str
    tax: int
    first_names: tuple[Name, ...]
    last_names: tuple[Name, ...]
    streets: tuple[str, ...]
    number_first: bool
    places: tuple[Place, ...]


def _names(text: str) -> tuple[Name, ...]:
    """Return comma-separated names; the first names are repeated, to be more frequent."""
    found: list[Name] = []
    for rank, word in enumerate(text.replace("\n", " ").split(",")):
        name = word.strip()
        letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        plain = "".join(filter(str.isalpha, letters)).lower()
        found += [Name(name, plain)] * max(1, 12 - rank // 6)
    return tuple(found)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


def _streets(names: str, suffixes: str) -> tuple[str, ...]:
    return tuple(f"{name} {suffix}" for name in _listed(names) for suffix in suffixes.split())


def _us(line: str) -> tuple[Place, ...]:
    """Return the place of ``City|ST|first ZIP|last ZIP|latitude|longitude|weight``, repeated."""
    city, state, first, last, latitude, longitude, weight = line.split("|")
    codes = tuple(f"{code:05}" for code in range(int(first), int(last) + 1))
    return (Place(city, state, codes, float(latitude), float(longitude)),) * int(weight)


def _elsewhere(text: str) -> tuple[Place, ...]:
    """Return the places of lines ``City|state|postal codes|latitude|longitude``."""
    found = []
    for line in text.strip().splitlines():
        city, state, codes, latitude, longitude = line.split("|")
        found.append(Place(city, state, tuple(codes.split(",")), float(latitude), float(longitude)))
    return tuple(found)


_ENGLISH_FIRST = _names("""
James, Mary, Robert, Patricia, John, Jennifer, Michael, Linda, David, Elizabeth, William, Barbara,
Richard, Susan, Joseph, Jessica, Thomas, Sarah, Charles, Karen, Daniel, Lisa, Matthew, Nancy,
Anthony, Betty, Mark, Sandra, Donald, Margaret, Steven, Ashley, Andrew, Kimberly, Paul, Emily,
Joshua, Donna, Kenneth, Michelle, Kevin, Carol, Brian, Amanda, George, Melissa, Timothy, Deborah,
Ronald, Stephanie, Jason, Rebecca, Edward, Sharon, Jeffrey, Laura, Ryan, Cynthia, Jacob, Dorothy,
Gary, Amy, Nicholas, Kathleen, Eric, Angela, Jonathan, Shirley, Stephen, Emma, Larry, Brenda,
Justin, Pamela, Scott, Nicole, Brandon, Anna, Benjamin, Samantha, Samuel, Katherine, Gregory,
Christine, Alexander, Debra, Patrick, Rachel, Frank, Carolyn, Raymond, Janet, Jack, Maria, Dennis,
Olivia, Jerry, Heather, Tyler, Helen, Aaron, Catherine, José, Diane, Adam, Julie, Nathan, Victoria,
Henry, Joyce, Zachary, Lauren, Douglas, Kelly, Peter, Christina, Kyle, Ruth, Noah, Joan, Ethan,
Virginia, Jeremy, Judith, Walter, Evelyn, Christian, Hannah, Keith, Andrea, Roger, Megan, Terry,
Cheryl, Austin, Jacqueline, Sean, Madison, Gerald, Teresa, Carl, Abigail, Dylan, Sophia, Harold,
Martha, Jordan, Sara, Luis, Gloria, Ángel, Janice, Mei, Wei, Priya, Arjun, Fatima, Omar, Yuki,
Siân, Zoë, Seán, Renée, Chloé, D'Andre, Mary-Jane, Zoe\u0308
""")
_ENGLISH_LAST = _names("""
Smith, Johnson, Williams, Brown, Jones, Garcia, Miller, Davis, Rodriguez, Martinez, Hernandez,
Lopez, Gonzalez, Wilson, Anderson, Thomas, Taylor, Moore, Jackson, Martin, Lee, Perez, Thompson,
White, Harris, Sanchez, Clark, Ramirez, Lewis, Robinson, Walker, Young, Allen, King, Wright, Scott,
Torres, Nguyen, Hill, Flores, Green, Adams, Nelson, Baker, Hall, Rivera, Campbell, Mitchell, Carter,
Roberts, Gomez, Phillips, Evans, Turner, Diaz, Parker, Cruz, Edwards, Collins, Reyes, Stewart,
Morris, Morales, Murphy, Cook, Rogers, Gutierrez, Ortiz, Morgan, Cooper, Peterson, Bailey, Reed,
Kelly, Howard, Ramos, Kim, Cox, Ward, Richardson, Watson, Brooks, Chavez, Wood, James, Bennett,
Gray, Mendoza, Ruiz, Hughes, Price, Alvarez, Castillo, Sanders, Patel, Myers, Long, Ross, Foster,
Jimenez, Powell, Jenkins, Perry, Russell, Sullivan, Bell, Coleman, Butler, Henderson, Barnes,
Fisher, Vasquez, Simmons, Romero, Jordan, Patterson, Alexander, Hamilton, Graham, Reynolds, Griffin,
Wallace, Moreno, West, Cole, Hayes, Bryant, Herrera, Gibson, Ellis, Tran, Medina, Aguilar, Stevens,
Murray, Ford, Castro, Marshall, Owens, Harrison, Fernandez, McDonald, Woods, Washington, Kennedy,
Wells, Vargas, Henry, Chen, Freeman, Webb, Tucker, Guzman, Burns, Crawford, Olson, Simpson, Porter,
Hunter, Gordon, Mendez, Silva, Shaw, Snyder, Mason, Dixon, Muñoz, Hunt, Hicks, Holmes, Palmer,
O'Brien, O'Connor, D'Angelo, MacLeod, Núñez, Peña, Smith-Jones, St. Clair, van der Berg, Nguyễn,
Łukaszewski, Ångström, de la Cruz, Nun\u0303ez
""")
_GERMAN_FIRST = _names("""
Thomas, Sabine, Michael, Petra, Andreas, Monika, Stefan, Claudia, Christian, Susanne, Markus,
Martina, Wolfgang, Ursula, Jürgen, Renate, Klaus, Birgit, Frank, Andrea, Jan, Katrin, Günther,
Jörg, Lena, Felix, Mia, Jonas, Käthe, Björn
""")
_GERMAN_LAST = _names("""
Müller, Schmidt, Schneider, Fischer, Weber, Meyer, Wagner, Becker, Schulz, Hoffmann, Schäfer, Koch,
Bauer, Richter, Klein, Wolf, Schröder, Neumann, Schwarz, Zimmermann, Braun, Krüger, Hofmann,
Hartmann, Lange, Groß, Köhler, von Arnim
""")
_FRENCH_FIRST = _names("""
Jean, Marie, Pierre, Nathalie, Michel, Isabelle, Philippe, Sylvie, Nicolas, Catherine, Christophe,
Martine, François, Françoise, Stéphane, Hélène, Éric, Céline, Frédéric, Aurélie, Léa, Anaïs, Zoé
""")
_FRENCH_LAST = _names("""
Martin, Bernard, Dubois, Thomas, Robert, Richard, Petit, Durand, Leroy, Moreau, Simon, Laurent,
Lefèbvre, Michel, Garcia, David, Bertrand, Roux, Vincent, Fournier, Morel, Girard, André, Mercier,
Lefort, Bélanger, d'Aubigné, L'Hôte
""")

_AMERICAN_STREETS = _streets(
    "Main, Oak, Maple, Cedar, Pine, Elm, Washington, Lake, Hill, Walnut, Spring, North, Ridge, "
    "Church, Willow, Mill, Sunset, Railroad, Jefferson, Center, Highland, Forest, Jackson, River, "
    "Meadow, Franklin, Park, Lincoln, Cherry, Dogwood, Chestnut, Spruce, Madison, Prospect, "
    "Martin Luther King Jr., O'Neill, County Line, Old Post",
    "St Ave Rd Dr Ln Blvd Ct Way Pl Ter",
)
_BRITISH_STREETS = _streets(
    "High, Station, Church, Park, Victoria, Green, Manor, Kings, Queens, New, Grange, Mill, York, "
    "Albert, St John's, Windsor, Springfield, George, Alexandra",
    "Street Road Lane Avenue Close Terrace",
)
_GERMAN_STREETS = _listed(
    "Hauptstraße, Schulstraße, Gartenstraße, Bahnhofstraße, Dorfstraße, Bergstraße, Birkenweg, "
    "Lindenstraße, Kirchgasse, Waldstraße, Ringstraße, Am Mühlbach, Straße des 17. Juni"
)
_FRENCH_STREETS = _listed(
    "rue de l'Église, Grande Rue, rue du Moulin, place de la Mairie, rue des Écoles, rue Pasteur, "
    "avenue de la République, rue Victor Hugo, quai des Célestins, impasse des Lilas"
)
_DUTCH_STREETS = _listed(
    "Kerkstraat, Schoolstraat, Molenweg, Dorpsstraat, Julianastraat, Prinsengracht, Parklaan, "
    "'s-Gravenhekje, Nieuwstraat, Wilhelminastraat"
)

_UNITED_STATES = """
New York|NY|10001|10040|40.7549|-73.9840|6
Brooklyn|NY|11201|11239|40.6501|-73.9496|4
Buffalo|NY|14201|14228|42.8864|-78.8784|1
Boston|MA|2108|2136|42.3601|-71.0589|3
Worcester|MA|1602|1610|42.2626|-71.8023|1
Providence|RI|2903|2909|41.8240|-71.4128|1
Hartford|CT|6103|6120|41.7658|-72.6734|1
Burlington|VT|5401|5408|44.4759|-73.2121|1
Portland|ME|4101|4103|43.6591|-70.2568|1
Newark|NJ|7102|7114|40.7357|-74.1724|1
Philadelphia|PA|19102|19154|39.9526|-75.1652|3
Pittsburgh|PA|15201|15239|40.4406|-79.9959|2
Baltimore|MD|21201|21231|39.2904|-76.6122|2
Washington|DC|20001|20020|38.9072|-77.0369|2
Richmond|VA|23219|23236|37.5407|-77.4360|1
Raleigh|NC|27601|27617|35.7796|-78.6382|1
Charlotte|NC|28202|28217|35.2271|-80.8431|2
Charleston|SC|29401|29414|32.7765|-79.9311|1
Atlanta|GA|30303|30331|33.7490|-84.3880|3
Miami|FL|33125|33150|25.7617|-80.1918|3
Orlando|FL|32801|32839|28.5383|-81.3792|2
Tampa|FL|33602|33629|27.9506|-82.4572|2
Nashville|TN|37203|37221|36.1627|-86.7816|1
Memphis|TN|38103|38128|35.1495|-90.0490|1
Louisville|KY|40202|40220|38.2527|-85.7585|1
Cincinnati|OH|45202|45233|39.1031|-84.5120|1
Cleveland|OH|44102|44135|41.4993|-81.6944|2
Columbus|OH|43201|43235|39.9612|-82.9988|2
Detroit|MI|48201|48238|42.3314|-83.0458|2
Grand Rapids|MI|49503|49512|42.9634|-85.6681|1
Indianapolis|IN|46201|46241|39.7684|-86.1581|2
Chicago|IL|60601|60657|41.8781|-87.6298|5
Milwaukee|WI|53202|53228|43.0389|-87.9065|1
Madison|WI|53703|53719|43.0731|-89.4012|1
Minneapolis|MN|55401|55419|44.9778|-93.2650|2
Des Moines|IA|50309|50321|41.5868|-93.6250|1
St. Louis|MO|63101|63139|38.6270|-90.1994|2
Kansas City|MO|64105|64134|39.0997|-94.5786|1
Omaha|NE|68102|68137|41.2565|-95.9345|1
Fargo|ND|58102|58104|46.8772|-96.7898|1
New Orleans|LA|70112|70131|29.9511|-90.0715|1
Houston|TX|77002|77099|29.7604|-95.3698|4
Dallas|TX|75201|75254|32.7767|-96.7970|3
Austin|TX|78701|78759|30.2672|-97.7431|2
San Antonio|TX|78201|78258|29.4241|-98.4936|2
Oklahoma City|OK|73102|73170|35.4676|-97.5164|1
Denver|CO|80202|80239|39.7392|-104.9903|2
Boulder|CO|80301|80305|40.0150|-105.2705|1
Albuquerque|NM|87102|87123|35.0844|-106.6504|1
Phoenix|AZ|85003|85054|33.4484|-112.0740|3
Tucson|AZ|85701|85757|32.2226|-110.9747|1
Salt Lake City|UT|84101|84124|40.7608|-111.8910|1
Boise|ID|83702|83716|43.6150|-116.2023|1
Las Vegas|NV|89101|89149|36.1699|-115.1398|2
Los Angeles|CA|90001|90068|34.0522|-118.2437|5
San Diego|CA|92101|92131|32.7157|-117.1611|3
San Francisco|CA|94102|94134|37.7749|-122.4194|3
Oakland|CA|94601|94621|37.8044|-122.2712|1
Sacramento|CA|95811|95838|38.5816|-121.4944|1
Portland|OR|97201|97239|45.5152|-122.6784|2
Eugene|OR|97401|97405|44.0521|-123.0868|1
Seattle|WA|98101|98144|47.6062|-122.3321|3
Spokane|WA|99201|99208|47.6588|-117.4260|1
Anchorage|AK|99501|99518|61.2181|-149.9003|1
Honolulu|HI|96813|96826|21.3069|-157.8583|1
"""
_CANADA = """
Toronto|ON|M5V #@#,M4C #@#,M6G #@#|43.6532|-79.3832
Ottawa|ON|K1P #@#,K2A #@#|45.4215|-75.6972
Montréal|QC|H2X #@#,H3B #@#|45.5019|-73.5674
Québec|QC|G1R #@#|46.8139|-71.2080
Vancouver|BC|V6B #@#,V5K #@#|49.2827|-123.1207
Victoria|BC|V8W #@#|48.4284|-123.3656
Calgary|AB|T2P #@#|51.0447|-114.0719
Winnipeg|MB|R3C #@#|49.8951|-97.1384
Halifax|NS|B3J #@#|44.6488|-63.5752
St. John's|NL|A1C #@#|47.5615|-52.7126
"""
_UNITED_KINGDOM = """
London||SW4 #@@,N1 #@@,SE15 #@@,E17 #@@,W1T #@@|51.5074|-0.1278
Manchester||M1 #@@,M20 #@@|53.4808|-2.2426
Birmingham||B13 #@@|52.4862|-1.8904
Bristol||BS6 #@@|51.4545|-2.5879
Leeds||LS6 #@@|53.8008|-1.5491
Edinburgh||EH3 #@@|55.9533|-3.1883
Cardiff||CF10 #@@|51.4816|-3.1791
Belfast||BT9 #@@|54.5973|-5.9301
"""
_GERMANY = """
Berlin|BE|10115,10435,10999,12043,13353|52.5200|13.4050
Hamburg|HH|20095,20357,22765|53.5511|9.9937
München|BY|80331,80799,81667|48.1351|11.5820
Köln|NW|50667,50823|50.9375|6.9603
Dresden|SN|01067,01099|51.0504|13.7373
"""
_FRANCE = """
Paris||75004,75011,75018|48.8566|2.3522
Lyon||69001,69007|45.7640|4.8357
Marseille||13001,13008|43.2965|5.3698
Saint-Étienne||42000,42100|45.4397|4.3872
"""
_NETHERLANDS = """
Amsterdam|NH|1012 @@,1071 @@|52.3676|4.9041
Rotterdam|ZH|3011 @@|51.9244|4.4777
's-Hertogenbosch|NB|5211 @@|51.6978|5.3037
"""
_AUSTRALIA = """
Sydney|NSW|2000,2010,2042|-33.8688|151.2093
Melbourne|VIC|3000,3056|-37.8136|144.9631
Brisbane|QLD|4000,4101|-27.4698|153.0251
Perth|WA|6000|-31.9523|115.8613
"""


_US_PLACES = tuple(place for line in _UNITED_STATES.strip().splitlines() for place in _us(line))
_ENGLISH = (_ENGLISH_FIRST, _ENGLISH_LAST)
_GERMAN = (_GERMAN_FIRST, _GERMAN_LAST)
_FRENCH = (_FRENCH_FIRST, _FRENCH_LAST)
_BRITAIN = _elsewhere(_UNITED_KINGDOM)
_USA = Country("United States", "US", 650, *_ENGLISH, _AMERICAN_STREETS, True, _US_PLACES)
_CA = Country("Canada", "CA", 500, *_ENGLISH, _AMERICAN_STREETS, True, _elsewhere(_CANADA))
_UK = Country("United Kingdom", "GB", 0, *_ENGLISH, _BRITISH_STREETS, True, _BRITAIN)
_DE = Country("Germany", "DE", 700, *_GERMAN, _GERMAN_STREETS, False, _elsewhere(_GERMANY))
_AU = Country("Australia", "AU", 1000, *_ENGLISH, _BRITISH_STREETS, True, _elsewhere(_AUSTRALIA))
_FR = Country("France", "FR", 210, *_FRENCH, _FRENCH_STREETS, True, _elsewhere(_FRANCE))
_NL = Country("Netherlands", "NL", 900, *_GERMAN, _DUTCH_STREETS, False, _elsewhere(_NETHERLANDS))

#: Each country is repeated by its share of readers in percent.
COUNTRIES = (_USA,) * 78 + (_CA,) * 8 + (_UK,) * 6 + (_DE,) * 3 + (_AU, _FR) * 2 + (_NL,)

EMAIL_DOMAINS = (
    "example.com",
    "example.com",
    "example.net",
    "example.org",
    "mail.example",
    "home.example",
    "post.example",
    "office.example",
)
SOURCES = (
    "web",
    "web",
    "web",
    "direct mail",
    "direct mail",
    "insert card",
    "newsletter",
    "trade show",
    "agent",
    "gift card",
    "call centre",
    "reader's friend",
)
COMPANIES = tuple(
    f"{first} {second}"
    for first in (
        "Harbor",
        "Pioneer",
        "Blue Ridge",
        "Lakeside",
        "O'Malley",
        "Smith, Baker",
        "Three Rivers",
        "Cascade",
        'The "Corner"',
        "Société Générale d'Optique",
    )
    for second in (
        "Public Library",
        "Supply Co.",
        "& Sons",
        "Books, Inc.",
        "Machine Works",
        "Dental Group",
        "Community College",
        "Café",
    )
)
NOTES = (
    "Paid at the trade show",
    "Renewed by phone",
    "Leave at the back door, dog bites",
    'Asked for "the large print", please check',
    "Check no. 1042; second reminder was sent",
    "First line\nSecond line, after a break",
    "Birthday present \U0001f382\U0001f381",
    "Ne pas plier s'il vous plaît",
    "Address taken from a form, partly illegible: 12 ½ Elm",
    "</script><b>not markup</b>",
    "日本語の請求書を希望",
    "cafe\u0301 at the corner pays",
)
TRADES = (
    "Beekeeping",
    "Museum conservation",
    "Boat building & repair",
    'Self-employed ("odd jobs")',
    "Théâtre",
    "Letterpress printing",
    "Retired, was in textiles",
)
SECTIONS = (
    "The letters page",
    "Recipes",
    "Tool reviews",
    "Obituaries",
    "The crossword",
    "Crossword, then Letters",
    "Kids' corner",
    "Photo essay",
    "Anything by the editor-at-large",
    "Étude de cas",
)
OPINIONS = (
    "Keep up the good work!",
    "Too many advertisements.",
    "Please bring back the garden calendar.\nMy father kept every one of them.",
    "The magazine comes late every month, sometimes a week after the shop has it.",
    "Love it \U0001f49a",
    'My neighbour says "it used to be thicker", and I agree.',
    "1) more maps\n2) larger type\n3) fewer staples",
    "Sehr schön, aber das Porto ist zu hoch.",
    "I'd like an index, once a year, on paper.",
)
