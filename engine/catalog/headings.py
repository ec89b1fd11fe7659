"""Which field a heading of a table means, and which code a word of a cell means, in both languages."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, get_args, get_origin

from engine.catalog.columns import OWN_KINDS
from engine.catalog.values import UnreadableError, plain
from engine.i18n import Language
from engine.messages import LABELS
from engine.quantity import gb_per_s, gib, tflops

__all__ = ["CODES", "HIDDEN", "headings_of", "option_of"]

#: Fields whose codes have words of their own, and where these words are.
CODES = {"term": "term", "provider_kind": "provider", "condition": "condition", "confidence": "confidence"}
#: Fields that a table can't say, beside whose row it is.
HIDDEN = ("current", "members_only", "usable_basis")
#: Words that people write above columns, beside the names of the fields.
_WORDS: dict[str, tuple[str, ...]] = {
    "gpu_ids": ("gpu", "card", "cards", "gpu model", "显卡", "卡", "型号", "显卡型号", "gpu型号", "卡型"),
    "gpu_id": ("gpu", "card", "显卡", "卡", "型号"),
    "provider": ("vendor", "cloud", "供应商", "服务商", "平台", "厂商"),
    "price_per_gpu_hour": ("price", "price/h", "price per hour", "$/h", "usd/h", "hourly", "单价", "价格", "每卡时价格",
                           "时价", "元/卡时", "卡时价"),
    "price": ("amount", "total", "价格", "报价", "总价", "金额", "含税价"),
    "currency": ("cur", "ccy", "货币", "币种"),
    "observed_on": ("date", "day", "seen", "quoted on", "日期", "报价日期", "时间"),
    "valid_until": ("valid to", "expires", "有效期", "有效期至", "截止日期"),
    "seller": ("supplier", "dealer", "vendor", "卖家", "供应商", "经销商", "商家"),
    "cards": ("quantity", "qty", "number", "数量", "卡数", "台数"),
    "term": ("billing", "type", "计费方式", "计费", "付费方式"),
    "region": ("location", "地区", "区域", "机房"),
    "notes": ("note", "remark", "remarks", "comment", "备注", "说明"),
    "product": ("item", "model", "产品", "商品", "品名"),
    "tax_included": ("tax", "incl. tax", "vat", "含税", "是否含税"),
    "includes": ("included", "包含", "配置"),
    "source_url": ("url", "link", "链接", "网址"),
    "name": ("gpu", "card", "title", "名称", "显卡"),
}  # fmt: skip
_OPTIONS: dict[str, dict[str, str]] = {
    "term": {"on demand": "on-demand", "ondemand": "on-demand", "hourly": "on-demand", "按需": "on-demand",
             "按量": "on-demand", "按量付费": "on-demand", "spot": "spot", "竞价": "spot", "抢占式": "spot",
             "包月": "monthly", "month": "monthly", "monthly": "monthly", "包年": "reserved-1y", "1y": "reserved-1y",
             "3y": "reserved-3y", "共享": "shared"},
    "condition": {"全新": "new", "二手": "used", "list": "msrp", "官方价": "msrp", "建议零售价": "msrp"},
}  # fmt: skip
#: Units that the names of columns may carry: ending of the field, ending of the heading, factor.
_UNITS = (
    ("bytes_per_second", "gb_per_s", gb_per_s(1)),
    ("flops", "tflops", tflops(1)),
    ("bytes", "gib", gib(1)),
)


@cache
def headings_of(kind: str) -> dict[str, tuple[str, float]]:
    """Headings in lower case, and the field and factor that each means."""
    found: dict[str, tuple[str, float]] = {}
    chinese = Language("zh_CN")
    fields = [f for f in OWN_KINDS[kind].model_fields if f not in (*HIDDEN, "origin")]
    for field in fields:
        found[field] = (field, 1.0)
        for ending, named, factor in _UNITS:
            if field.endswith(ending):
                found[field.removesuffix(ending) + named] = (field, float(factor))
                break
    for field in fields:
        words = [*_WORDS.get(field, ()), field.replace("_", " ")]
        if f"field.{field}" in LABELS and not field.endswith(("bytes_per_second", "flops", "bytes")):
            words += [LABELS[f"field.{field}"], chinese.label(f"field.{field}")]
        for word in words:
            found.setdefault(plain(word).lower(), (field, 1.0))
    return found


def option_of(kind: str, field: str, text: str) -> str:
    """The code of a cell that holds one of a few words, as a code or in either language."""
    word = plain(text).lower()
    codes = _codes(OWN_KINDS[kind].model_fields[field].annotation)
    by_word = {code.lower(): code for code in codes} | _OPTIONS.get(field, {})
    if field in CODES:
        for language in (Language("en"), Language("zh_CN")):
            for code in codes:
                label = f"{CODES[field]}.{code}"
                if label in LABELS:
                    by_word[plain(language.label(label)).lower()] = code
    if word not in by_word or by_word[word] not in codes:
        raise UnreadableError("import.unknown_word")
    return by_word[word]


def _codes(annotation: Any) -> tuple[str, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()
