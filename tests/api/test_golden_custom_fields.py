"""Golden answers of operations 5 and 6, typed by hand from the interface's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.conftest import EVERY_SERVER

if TYPE_CHECKING:
    from tests.api.callers import Caller

pytestmark = EVERY_SERVER

# As JSON writes them, 255 code points each: the longest that a name and a label may be.
LONG_NAME = 'é😀\\"\\\\</script>' * 19 + 'é😀\\"\\\\</sc'
LONG_LABEL = "ß" * 254 + "😀"

DEFINITIONS = (
    '[{"field_id":"1","name":"topics","display_as":"Topics","type":"checkbox",'
    '"allow_other":1,"value_options":['
    '{"option_id":"13","value":"roses","display_as":"Roses","disqualifier":false,'
    '"active":true,"order":"1"},'
    '{"option_id":"11","value":"soil","display_as":"Soil & Compost","disqualifier":false,'
    '"active":true,"order":"2"},'
    '{"option_id":"14","value":"ponds","display_as":"Ponds","disqualifier":false,'
    '"active":false,"order":"3"},'
    '{"option_id":"15","value":"bees","display_as":"Bees","disqualifier":false,'
    '"active":true,"order":"3"},'
    '{"option_id":"12","value":"","display_as":"Trees","disqualifier":false,'
    '"active":true,"order":"10"}]},'
    '{"field_id":"2","name":"size","display_as":"How big is it?","type":"radio",'
    '"allow_other":0,"value_options":['
    '{"option_id":"21","value":"s","display_as":"Small","disqualifier":true,'
    '"active":true,"order":"1"},'
    '{"option_id":"22","value":"l","display_as":"Large","disqualifier":false,'
    '"active":true,"order":"2"}]},'
    '{"field_id":"3","name":"region","display_as":"Region","type":"select",'
    '"allow_other":0,"value_options":['
    '{"option_id":"31","value":"north","display_as":"North","disqualifier":false,'
    '"active":true,"order":"1"}]},'
    '{"field_id":"4","name":"motto","display_as":"Motto","type":"text","allow_other":0,'
    '"value_options":[]},'
    '{"field_id":"10","name":"remarks","display_as":"Remarks","type":"textarea",'
    '"allow_other":0,"value_options":[]},'
    f'{{"field_id":"9223372036854775807","name":"{LONG_NAME}",'
    f'"display_as":"{LONG_LABEL}","type":"select","allow_other":1,"value_options":['
    '{"option_id":"9223372036854775807","value":"\\"\\\\ 😀 </script>",'
    '"display_as":"é \\"x\\" \\\\","disqualifier":true,"active":false,'
    '"order":"9223372036854775807"}]}]'
)

ANSWERS = (
    '[{"field_id":"1","name":"topics","display_as":"Topics","type":"checkbox",'
    '"allow_other":1,"values":['
    '{"option_id":"11","display_as":"Soil & Compost","value":"soil"},'
    '{"option_id":"14","display_as":"Ponds","value":"ponds"},'
    '{"option_id":"12","display_as":"Trees","value":""}],'
    '"text_value":"Moss \\"&\\" lichen 😀"},'
    '{"field_id":"2","name":"size","display_as":"How big is it?","type":"radio",'
    '"allow_other":0,"values":[{"option_id":"21","display_as":"Small","value":"s"}],'
    '"text_value":null},'
    '{"field_id":"3","name":"region","display_as":"Region","type":"select",'
    '"allow_other":0,"values":null,"text_value":null},'
    '{"field_id":"4","name":"motto","display_as":"Motto","type":"text","allow_other":0,'
    '"values":null,"text_value":"Grow \\\\ </script> e\u0301"},'
    '{"field_id":"10","name":"remarks","display_as":"Remarks","type":"textarea",'
    '"allow_other":0,"values":null,"text_value":"first\\nsecond\u2028third"},'
    f'{{"field_id":"9223372036854775807","name":"{LONG_NAME}",'
    f'"display_as":"{LONG_LABEL}","type":"select","allow_other":1,"values":null,'
    '"text_value":"none of these"}]'
)

NO_ANSWERS = (
    '[{"field_id":"1","name":"topics","display_as":"Topics","type":"checkbox",'
    '"allow_other":1,"values":null,"text_value":null},'
    '{"field_id":"2","name":"size","display_as":"How big is it?","type":"radio",'
    '"allow_other":0,"values":null,"text_value":null},'
    '{"field_id":"3","name":"region","display_as":"Region","type":"select",'
    '"allow_other":0,"values":null,"text_value":null},'
    '{"field_id":"4","name":"motto","display_as":"Motto","type":"text","allow_other":0,'
    '"values":null,"text_value":null},'
    '{"field_id":"10","name":"remarks","display_as":"Remarks","type":"textarea",'
    '"allow_other":0,"values":null,"text_value":null},'
    f'{{"field_id":"9223372036854775807","name":"{LONG_NAME}",'
    f'"display_as":"{LONG_LABEL}","type":"select","allow_other":1,"values":null,'
    '"text_value":null}]'
)

ONE_AWKWARD_ANSWER = (
    NO_ANSWERS.removesuffix('"values":null,"text_value":null}]')
    + '"values":[{"option_id":"9223372036854775807","display_as":"é \\"x\\" \\\\",'
    '"value":"\\"\\\\ 😀 </script>"}],"text_value":null}]'
)


def test_no_definition(empty: Caller) -> None:
    """interface, operation 6: a top-level array."""
    assert empty.answer("/2/customfields/") == "[]"


def test_one_definition(one: Caller) -> None:
    """interface, operation 6; rules, "Empty collections": ``value_options`` is ``[]``."""
    assert one.answer("/2/customfields/") == (
        '[{"field_id":"1","name":"motto","display_as":"Motto","type":"text",'
        '"allow_other":0,"value_options":[]}]'
    )


def test_definitions_of_all_types_with_their_options(golden: Caller) -> None:
    """interface, operation 6; rules, "Custom field answers": options by order, then id."""
    assert golden.answer("/2/customfields/") == DEFINITIONS


def test_definitions_of_which_only_the_type_is_known(sparse: Caller) -> None:
    """rules, "Missing values" and "Missing Bool, flag, verified, Double"."""
    assert sparse.answer("/2/customfields/") == (
        '[{"field_id":"1","name":"","display_as":"","type":"select","allow_other":0,'
        '"value_options":[{"option_id":"1","value":"","display_as":"",'
        '"disqualifier":false,"active":false,"order":""}]},'
        '{"field_id":"2","name":"","display_as":"","type":"text","allow_other":0,'
        '"value_options":[]}]'
    )


def test_answers_of_all_types(golden: Caller) -> None:
    """interface, operation 5; rules, "Custom field answers": other, a retired option."""
    assert golden.answer("/2/customfields/1") == ANSWERS


def test_a_subscriber_without_answers_has_an_entry_for_every_field(golden: Caller) -> None:
    """rules, "Custom field answers": ``values`` and ``text_value`` both null."""
    assert golden.answer("/2/customfields/2") == NO_ANSWERS


def test_an_awkward_option_that_was_chosen(golden: Caller) -> None:
    """interface, operation 5: ids near 2^63, quotes, backslashes, emoji."""
    assert golden.answer("/2/customfields/9223372036854775807") == ONE_AWKWARD_ANSWER


def test_an_answer_whose_field_and_option_have_no_names(sparse: Caller) -> None:
    """rules, "Missing values"."""
    assert sparse.answer("/2/customfields/1") == (
        '[{"field_id":"1","name":"","display_as":"","type":"select","allow_other":0,'
        '"values":[{"option_id":"1","display_as":"","value":""}],"text_value":null},'
        '{"field_id":"2","name":"","display_as":"","type":"text","allow_other":0,'
        '"values":null,"text_value":null}]'
    )


def test_a_subscriber_of_an_account_with_one_field(one: Caller) -> None:
    """interface, operation 5."""
    assert one.answer("/2/customfields/1") == (
        '[{"field_id":"1","name":"motto","display_as":"Motto","type":"text",'
        '"allow_other":0,"values":null,"text_value":null}]'
    )
