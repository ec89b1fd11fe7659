"""What may be used, and the reason why something may not."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from small_world import AS_OF, catalog, gpu, offer, purchase, scenario, training

from engine.advice.advise import advise
from engine.errors import InputError
from engine.hardware.model import Offer
from engine.scenario import OwnedGpus, Scenario
from engine.search.clusters import candidates_of, node_counts
from engine.search.market import market_of, region_of
from engine.search.search import search


def reasons(stated: Scenario, known) -> dict[str, str]:
    market = market_of(stated, known)
    return {row.id: reason.code for row, reason in market.refused}


def test_prices_are_read_as_of_the_scenarios_date() -> None:
    old = offer("x1", "mid", 1.0, provider="P", observed_on=date(2026, 6, 1), current=False)
    new = offer("x2", "mid", 0.4, provider="P", observed_on=date(2026, 11, 20), current=True)
    known = catalog(offers=(old, new))
    today = market_of(scenario(), known)
    assert [o.id for o in today.offers] == ["x2"]
    summer = Scenario.model_validate({**scenario().model_dump(), "as_of": date(2026, 7, 1)})
    assert [o.id for o in market_of(summer, known).offers] == ["x1"]
    earlier = Scenario.model_validate({**scenario().model_dump(), "as_of": date(2026, 5, 1)})
    assert not market_of(earlier, known).offers


def test_reasons_of_refusal() -> None:
    known = catalog(
        gpus=(gpu("mid", 24, 120, export_controlled_for=("CN",)), gpu("cn", 32, 100, region_only=("CN",))),
        offers=(
            offer("spot", "mid", 0.1, term="spot"),
            offer("us", "mid", 0.5, country="US"),
            offer("de", "mid", 0.5, country="DE"),
            offer("where", "mid", 0.5),
            offer("old", "mid", 0.5, observed_on=date(2025, 1, 1)),
            offer("members", "mid", 0.1, members_only=True),
            offer("cn", "cn", 0.5, country="CN"),
        ),
        systems=(), purchase_prices=(purchase("m", "mid", 100),),
    )  # fmt: skip
    assert reasons(scenario(region="US", ways=("rent",)), known) == {
        "spot": "rejected.spot", "de": "rejected.offer_region", "old": "rejected.price_too_old",
        "cn": "rejected.offer_region", "m": "rejected.way",
    }  # fmt: skip
    kept = [o.id for o in market_of(scenario(region="US", ways=("rent",)), known).offers]
    assert kept == ["us", "where"], "an offer without a region stays; subsidised members' rates are never offered"
    assert reasons(scenario(data_may_leave=False), known)["us"] == "rejected.data_must_stay"
    chinese = scenario(region="CN", export_controlled_allowed=False)
    assert reasons(chinese, known)["m"] == "rejected.export"
    assert [o.id for o in market_of(chinese, known).offers] == ["cn"]


def test_a_users_own_price_never_grows_too_old_and_wins() -> None:
    mine = offer("a", "mid", 0.2, origin="user", observed_on=date(2024, 1, 1))
    stated = Scenario.model_validate({**scenario().model_dump(), "offers": (mine.model_dump(),)})
    found = {o.id: o for o in market_of(stated, catalog()).offers}
    assert found["a"].origin == "user"


def test_cards_are_closed_for_what_the_user_says() -> None:
    cards = (gpu("mid", 24, 120), gpu("amd", 24, 120, vendor="AMD"), gpu("dark", 24, 120, usable_bytes=None))
    known = catalog(gpus=cards, systems=(), offers=(), purchase_prices=())
    closed = {
        k: v.code for k, v in market_of(scenario(vendors=("nvidia",), exclude_gpus=("mid",)), known).closed.items()
    }
    assert closed == {"mid": "rejected.excluded", "amd": "rejected.vendor", "dark": "rejected.memory_unknown"}
    assert market_of(scenario(include_gpus=("amd",)), known).closed["mid"].code == "rejected.not_included"


@pytest.mark.parametrize("constraints", [{"owned": (OwnedGpus(gpu_id="none"),)}, {"include_gpus": ("none",)}])
def test_a_card_that_does_not_exist_is_an_input_error(constraints) -> None:
    with pytest.raises(InputError) as error:
        search(scenario(**constraints), catalog())
    assert error.value.code == "search.gpu_unknown"


def test_units_are_respected() -> None:
    stated = scenario(max_gpus=8)
    known = catalog()
    candidates = candidates_of(stated, known, market_of(stated, known))
    sizes: dict[str, set[tuple[int, int]]] = {}
    for seed in candidates.seeds:
        cluster = candidates.clusters[seed.cluster]
        sizes.setdefault(seed.source_id, set()).add((cluster.gpus_per_node, cluster.nodes))
    assert sizes["c"] == {(4, 1), (4, 2)}, "sold by the node of four"
    assert sizes["b"] == {(1, 1), (2, 1), (4, 1), (4, 2)}, "sold by the card: parts of a machine, then whole machines"
    assert sizes["m"] == {(1, 1), (2, 1), (4, 1), (4, 2)}
    assert all(c.gpus <= 8 for c in candidates.clusters)


def test_what_the_offer_does_not_say_is_marked_as_assumed() -> None:
    stated = scenario()
    known = catalog(offers=(offer("u", "big", 2.0, gpus_per_unit=None),), purchase_prices=())
    candidates = candidates_of(stated, known, market_of(stated, known))
    clusters = [candidates.clusters[s.cluster] for s in candidates.seeds]
    assert [(c.gpus_per_node, c.system.id if c.system else None, c.assumed) for c in clusters] == [(4, "big-x4", True)]


def test_marketplace_hosts_form_no_cluster_and_offices_no_server() -> None:
    known = catalog(offers=(offer("v", "mid", 0.3, provider_kind="marketplace"),),
                    purchase_prices=(purchase("m", "mid", 2_000),))  # fmt: skip
    stated = scenario(max_gpus=16, server_room=False)
    candidates = candidates_of(stated, known, market_of(stated, known))
    assert all(candidates.clusters[s.cluster].nodes == 1 for s in candidates.seeds if s.way == "rent")
    assert not [s for s in candidates.seeds if s.way == "buy"], "a passively cooled data-centre card needs a server"


def test_owned_cards_count_as_they_are_and_keep_what_is_in_use() -> None:
    stated = scenario(owned=(OwnedGpus(gpu_id="mid", count=3, in_use_bytes=2**30),), ways=("owned",))
    known = catalog()
    candidates = candidates_of(stated, known, market_of(stated, known))
    found = [candidates.clusters[s.cluster] for s in candidates.seeds]
    assert sorted(c.gpus for c in found) == [1, 2, 3]
    assert {c.in_use_bytes for c in found} == {2**30}


def test_node_counts() -> None:
    assert node_counts(8, 64) == (1, 2, 3, 4, 5, 6, 7, 8)
    assert node_counts(8, 7) == ()
    assert max(node_counts(8, 4096)) == 512


@pytest.mark.parametrize(("country", "region"), [("DE", "EU"), ("GB", "UK"), ("CN", "CN"), ("IN", "other"), ("", "")])
def test_regions(country: str, region: str) -> None:
    assert region_of(country) == region


def test_as_of_is_what_the_small_world_says() -> None:
    assert scenario(training()).as_of == AS_OF


def test_of_many_alike_only_those_that_nobody_beats_are_looked_at() -> None:
    """Price against date: what is dearer and older can't win; where there are few, every seller is seen."""
    base = catalog().offers[0].model_copy(update={"origin": "user"})

    def own(number: int, price: str, day: int) -> Offer:
        changes = {"id": f"u{number}", "provider": f"P{number}", "price_per_gpu_hour": Decimal(price),
                   "observed_on": date(2026, 6, day)}  # fmt: skip
        return base.model_copy(update=changes)

    alike = [own(n, f"{1 + n / 100}", 1 + n % 5) for n in range(60)]
    other = base.model_copy(update={"id": "other", "region": "elsewhere", "price_per_gpu_hour": Decimal(9)})
    looked_at = catalog(offers=(*alike, other)).offers_to_look_at
    assert [o.id for o in looked_at] == ["u0", "u1", "u2", "u3", "u4", "other"]  # each newer than all cheaper ones
    few = catalog(offers=tuple(alike[:10])).offers_to_look_at
    assert len(few) == 10


def test_leaving_out_what_is_beaten_changes_no_pick() -> None:
    base = next(o for o in catalog().offers if o.gpu_ids == ("mid",))
    many = tuple(
        base.model_copy(update={"id": f"u{n}", "provider": f"P{n}", "origin": "user",
                                "price_per_gpu_hour": Decimal(f"{0.3 + (n * 7 % 60) / 100:.2f}")})
        for n in range(60)
    )  # fmt: skip
    world = catalog(offers=(*catalog().offers, *many))
    asked = scenario(training(), ways=("rent",))
    all_of_them = advise(asked.model_copy(update={"offers": many}), catalog())  # a scenario's own are all looked at
    pruned = advise(asked, world)
    assert pruned.ranked[0].cost == all_of_them.ranked[0].cost
    assert pruned.ranked[0].plan.offer is not None and pruned.ranked[0].plan.offer.provider == "P0"
