"""`gpu-advisor catalog …` as a person or a script uses it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from engine.catalog.check import check_catalog
from engine.catalog.find import KINDS, find_gpus, find_rows, rows_of
from engine.catalog.load import load_base, load_catalog
from engine.cli.catalog import app
from engine.errors import InputError
from engine.hardware.model import Offer
from engine.i18n import Language, system_language
from engine.messages import TEMPLATES


def run(*arguments: str) -> str:
    answer = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.output


def run_json(*arguments: str) -> dict[str, Any]:
    return json.loads(run(*arguments, "--json"))


@pytest.mark.parametrize("kind", list(KINDS))
def test_lists_are_one_json_document(kind: str) -> None:
    document = run_json("list", kind)
    assert document["kind"] == kind
    assert document["rows"]
    assert document["catalog"]["sha256"] == load_base().sha256


@pytest.mark.parametrize("kind", list(KINDS))
def test_lists_speak_both_languages(kind: str) -> None:
    english, chinese = run("list", kind, "--lang", "en"), run("list", kind, "--lang", "zh_CN")
    assert english.splitlines()[0] != chinese.splitlines()[0]
    assert len(english.splitlines()) == len(chinese.splitlines())
    assert "field." not in english + chinese


def test_a_filter_needs_all_its_words() -> None:
    rows = run_json("list", "gpus", "--filter", "rtx 4090")["rows"]
    assert {r["id"] for r in rows} == {"nvidia-rtx-4090", "nvidia-rtx-4090d", "nvidia-rtx-4090-48gb-mod"}


def test_members_prices_are_not_listed_unless_asked_for() -> None:
    listed = rows_of(load_base(), "offers")
    assert all(isinstance(o, Offer) and o.current and not o.members_only for o in listed)
    everything = rows_of(load_base(), "offers", history=True)
    assert any(isinstance(o, Offer) and o.members_only for o in everything)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("H100 SXM", ["nvidia-h100-sxm-80gb"]),
        ("rtx 4090", ["nvidia-rtx-4090"]),
        ("4090", ["nvidia-rtx-4090"]),
        ("A100 80GB", ["nvidia-a100-pcie-80gb", "nvidia-a100-sxm-80gb"]),
        ("英伟达 H100 SXM5 80GB", ["nvidia-h100-sxm-80gb"]),
        ("NVIDIA  L40S", ["nvidia-l40s"]),
        ("h20", ["nvidia-h20-96gb", "nvidia-h20-141gb"]),
        ("mi300x", ["amd-mi300x-192gb"]),
    ],
)
def test_cards_are_found_by_the_names_people_use(name: str, ids: list[str]) -> None:
    assert [g.id for g in find_gpus(load_base(), name)] == ids


def test_models_are_found_by_name() -> None:
    for name in ("meta-llama/Llama-3.1-8B", "llama-3.1-8b", "Llama 3.1 8B"):
        assert [r.id for r in find_rows(load_base(), name)] == ["meta-llama/Llama-3.1-8B"]


def test_an_unknown_name_is_answered_with_similar_ones() -> None:
    with pytest.raises(InputError) as caught:
        find_rows(load_base(), "RTX 4909")
    assert caught.value.code == "catalog.unknown_id"
    for code in ("en", "zh_CN"):
        assert "4090" in Language(code).error(caught.value)


def test_show_prints_source_and_date() -> None:
    text = run("show", "nvidia-h100-sxm-80gb", "--lang", "en")
    assert "989 TFLOPS" in text
    assert "79.7 GiB" in text
    assert "https://" in text
    assert "可用显存" in run("show", "nvidia-h100-sxm-80gb", "--lang", "zh_CN")


def test_a_campus_cluster_is_added_listed_and_removed() -> None:
    saved = run_json("add-shared", "--name", "校级平台", "--gpu", "a800 sxm4 80gb", "--price", "2", "--currency", "CNY",
                     "--queue-days", "5", "--max-gpus", "8")["saved"]  # fmt: skip
    assert (saved["origin"], saved["queue_days"], saved["term"]) == ("user", 5.0, "shared")
    assert run_json("list", "offers", "--filter", "校级平台")["rows"] == [saved]
    assert "¥2.00" in run("list", "offers", "--filter", "校级平台", "--lang", "zh_CN")
    run("remove", saved["id"])
    assert run_json("list", "offers", "--filter", "校级平台")["rows"] == []


def test_an_offer_and_a_quotation_of_ones_own() -> None:
    offer = run_json("add-offer", "--provider", "My Cloud", "--gpu", "h100 sxm", "--price", "1,234.5",
                     "--currency", "USD", "--term", "reserved-1y", "--gpus", "8",
                     "--date", "2026-11-30")["saved"]  # fmt: skip
    assert (offer["price_per_gpu_hour"], offer["gpus_per_unit"], offer["observed_on"]) == ("1234.5", 8, "2026-11-30")
    quote = run_json("add-quotation", "--seller", "Dealer", "--gpu", "rtx 4090", "--price", "90000",
                     "--currency", "CNY", "--cards", "4", "--server")["saved"]  # fmt: skip
    assert (quote["cards"], quote["whole_server"]) == (4, True)
    catalog = load_catalog()
    assert {catalog.offers[0].id, catalog.purchase_prices[0].id} == {offer["id"], quote["id"]}


@pytest.mark.parametrize(
    ("option", "value"),
    [("--price", "two"), ("--price", "nan"), ("--price", "0.00"), ("--currency", "yuan"), ("--date", "1/12/2026")],
)
def test_bad_values_are_named(option: str, value: str) -> None:
    given = {"--provider": "X", "--gpu": "h100 sxm", "--price": "2", "--currency": "USD", "--date": "2026-12-01"}
    arguments = [part for pair in {**given, option: value}.items() for part in pair]
    with pytest.raises(InputError) as caught:
        CliRunner().invoke(app, ["add-offer", *arguments], catch_exceptions=False)
    assert caught.value.code == "catalog.bad_value"
    assert value in Language("zh_CN").error(caught.value)
    assert not [o for o in load_catalog().offers if o.origin == "user"]


def test_the_check_counts_and_warns() -> None:
    from datetime import date

    result = check_catalog(load_base(), date(2026, 12, 1))
    assert result.sha256 == result.content_sha256
    assert result.offers_joined >= 0.97
    assert sum(result.current_by_age.values()) == result.offers_current
    assert {f.code for f in result.findings} == {"catalog.unjoined", "catalog.stale_prices"}
    later = check_catalog(load_base(), date(2028, 12, 1))
    assert later.current_by_age == {"over 365": later.offers_current}


def test_the_check_speaks_both_languages() -> None:
    assert load_base().sha256 in run("check", "--date", "2026-12-01", "--lang", "en")
    assert "目录版本" in run("check", "--lang", "zh_CN")
    assert run_json("check")["gpus_for_memory"] >= 130


def test_restore_sets_the_rows_aside() -> None:
    assert run_json("restore")["set_aside"] is None
    run("add-shared", "--name", "c", "--gpu", "l40s", "--price", "0", "--currency", "USD")
    assert run_json("restore")["set_aside"].endswith(".sqlite")
    assert load_catalog().offers == load_base().offers


def test_every_error_of_the_catalogue_has_words_in_chinese() -> None:
    chinese = Language("zh_CN")
    for code, template in TEMPLATES.items():
        if code.startswith("catalog."):
            assert chinese.gettext(template) != template, code


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_system_is_asked_for_its_language(
    environment: dict[str, str], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert system_language() == code
