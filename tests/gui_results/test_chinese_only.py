"""No English sentence stands in what a Chinese reader sees of an example's results."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from engine.advice.advise import advise
from engine.advice.result import Advice
from engine.catalog.load import load_catalog
from engine.examples import EXAMPLES, example_content
from engine.i18n import Language
from engine.inputs import parse_scenario
from gui.results.working import Node, working

CHINESE = Language("zh_CN")
CATALOG = load_catalog(with_user_rows=False)
#: Three lower-case Latin words in a row: a phrase. Names of products, programs and formulas have none.
PHRASE = re.compile(r"(?:\b[a-z][a-z'-]+\b[ ,]+){2,}\b[a-z][a-z'-]+\b")
#: What is quoted as its publisher writes it: names of cost rows and of hosted models, and addresses.
QUOTED = tuple(
    sorted({c.item for c in CATALOG.cost_items} | {p.model for p in CATALOG.api_prices}, key=len, reverse=True)
)


def _own_words(text: str) -> str:
    text = re.sub(r"https?://[^\s；]+", "", text)
    for name in QUOTED:
        text = text.replace(name, "")
    return text


def _titles(nodes: tuple[Node, ...]) -> Iterator[str]:
    for node in nodes:
        yield from (node.title, node.expected, node.span)
        yield from _titles(node.children)


def _sentences(advice: Advice) -> Iterator[str]:
    for pick in advice.picks:
        yield from _titles(tuple(working(advice, advice.ranked[pick.index], CHINESE)))
        yield from (CHINESE.text(reason) for reason in pick.reasons)
    yield from (CHINESE.text(f) for f in advice.findings)
    yield from (CHINESE.text(r.reason) for r in advice.rejected)
    yield from (CHINESE.text(f) for a in advice.ranked for f in a.findings)


def test_the_pattern_finds_english() -> None:
    assert PHRASE.search(_own_words("来源：planning assumption, to be replaced by the seller's word"))
    assert not PHRASE.search(_own_words("1 × RTX 4090：装得下，来源 https://example.org/a-b"))


@pytest.mark.parametrize("name", [e.name for e in EXAMPLES])
def test_no_english_phrase_in_the_results(name: str) -> None:
    advice = advise(parse_scenario(example_content(name, CHINESE), file=name), CATALOG)
    english = {text for text in _sentences(advice) if PHRASE.search(_own_words(text))}
    assert not english
