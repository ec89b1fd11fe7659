"""Quantities: estimates with three points, named terms, money, and the only unit conversions of the project.

Inside the engine everything is bytes, seconds, FLOP, bytes per second and watts. `GiB` is 2**30 bytes and `GB`
is 10**9 bytes; they are made here, at the edges, and shown by `engine.i18n.Language`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

__all__ = [
    "GB",
    "GIB",
    "Bounds",
    "Currency",
    "Estimate",
    "Frozen",
    "Money",
    "MoneyEstimate",
    "Number",
    "Term",
    "TermBlock",
    "gb",
    "gb_per_s",
    "gbit_per_s",
    "gib",
    "maximum",
    "tflops",
]

#: A scalar or an array with one entry for each candidate: the same formula serves both.
Number: TypeAlias = int | float | NDArray[Any]

GIB = 2**30  # bytes; what nvidia-smi and PyTorch count
GB = 10**9  # bytes; what vendors print


def gib(value: float) -> int:
    """Bytes of `value` GiB."""
    return round(value * GIB)


def gb(value: float) -> int:
    """Bytes of `value` decimal GB."""
    return round(value * GB)


def gb_per_s(value: float) -> float:
    """Bytes per second of `value` GB/s."""
    return value * 1e9


def gbit_per_s(value: float) -> float:
    """Bytes per second of `value` Gbit/s."""
    return value * 1e9 / 8


def tflops(value: float) -> float:
    """FLOP per second of `value` TFLOPS."""
    return value * 1e12


class Frozen(BaseModel):
    """Base of all value objects: immutable, and unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class Estimate(Frozen):
    """A quantity that is not known exactly: a 90 % interval and its expected value."""

    low: float
    expected: float
    high: float

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.expected <= self.high:
            raise ValueError(f"not ordered: {self.low} <= {self.expected} <= {self.high}")
        return self

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """An estimate without spread."""
        return cls(low=value, expected=value, high=value)

    @property
    def relative_width(self) -> float:
        """(high - low) / expected; 0 where nothing is expected."""
        return (self.high - self.low) / self.expected if self.expected else 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """Low, expected and high of a quantity inside a formula: scalars or arrays of one shape."""

    low: Number
    expected: Number
    high: Number

    @classmethod
    def exact(cls, value: Number) -> Bounds:
        """Bounds without spread."""
        return cls(value, value, value)

    @classmethod
    def around(cls, expected: Number, low_factor: float, high_factor: float) -> Bounds:
        """Bounds at fixed factors of the expected value, `low_factor <= 1 <= high_factor`."""
        return cls(expected * low_factor, expected, expected * high_factor)

    @property
    def is_exact(self) -> bool:
        """Whether low and high are the very object that is expected: one operation then serves all three."""
        return self.low is self.expected and self.high is self.expected

    def __add__(self, other: Bounds | Number) -> Bounds:
        if not isinstance(other, Bounds):
            other = Bounds(other, other, other)
        expected = self.expected + other.expected
        if self.is_exact and other.is_exact:
            return Bounds(expected, expected, expected)
        return Bounds(self.low + other.low, expected, self.high + other.high)

    __radd__ = __add__

    def __mul__(self, factor: Number) -> Bounds:
        """Product with a factor that is not negative."""
        if self.is_exact:
            return Bounds.exact(self.expected * factor)
        return Bounds(self.low * factor, self.expected * factor, self.high * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Number) -> Bounds:
        """Quotient by a positive divisor."""
        if self.is_exact:
            return Bounds.exact(self.expected / divisor)
        return Bounds(self.low / divisor, self.expected / divisor, self.high / divisor)

    def reciprocal(self, numerator: Number = 1.0) -> Bounds:
        """`numerator / self`, with low and high changing places; `self` is positive."""
        return Bounds(numerator / self.high, numerator / self.expected, numerator / self.low)

    def at(self, index: int | None = None) -> Estimate:
        """The estimate of one candidate; `None` for scalars."""
        low, expected, high = (_pick(v, index) for v in (self.low, self.expected, self.high))
        return Estimate(low=min(low, expected), expected=expected, high=max(high, expected))


def maximum(*bounds: Bounds) -> Bounds:
    """Elementwise maximum of several bounds."""
    low, expected, high = bounds[0].low, bounds[0].expected, bounds[0].high
    for other in bounds[1:]:
        low = np.maximum(low, other.low)
        expected = np.maximum(expected, other.expected)
        high = np.maximum(high, other.high)
    return Bounds(low, expected, high)


def _pick(value: Number, index: int | None) -> float:
    if isinstance(value, np.ndarray) and value.ndim and index is not None:
        return float(value[index])
    return float(value)


class Term(Frozen):
    """One named summand of a total, with its working: formula, substituted values and source.

    `name` is a label code such as ``memory.weights``; its words live in `engine.messages`.
    `formula` is plain text over the keys of `values`; `source` says where the formula or factor comes from.
    """

    name: str
    unit: str  # bytes, seconds, FLOP, a currency code, 1 …
    low: float
    expected: float
    high: float
    formula: str
    values: dict[str, float | int | str] = Field(default_factory=dict)
    source: str = ""

    @property
    def estimate(self) -> Estimate:
        """The amount of the term."""
        return Estimate(low=self.low, expected=self.expected, high=self.high)


@dataclass(frozen=True, slots=True)
class TermBlock:
    """A `Term` for many candidates at once; `at` gives the term of one of them."""

    name: str
    amount: Bounds
    formula: str
    values: Mapping[str, Number | str] = field(default_factory=dict)
    source: str = ""
    unit: str = "bytes"

    def at(self, index: int | None = None) -> Term:
        """The term of one candidate."""
        amount = self.amount.at(index)
        shown = {k: v if isinstance(v, str) else _tidy(_pick(v, index)) for k, v in self.values.items()}
        return Term(
            name=self.name,
            unit=self.unit,
            low=amount.low,
            expected=amount.expected,
            high=amount.high,
            formula=self.formula,
            values=shown,
            source=self.source,
        )


def _tidy(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]


class Money(Frozen):
    """An exact amount in one currency. Different currencies never add; a dated rate converts them."""

    amount: Decimal
    currency: Currency

    @field_validator("amount")
    @classmethod
    def _finite(cls, value: Decimal) -> Decimal:
        if not value.is_finite():
            raise ValueError("an amount of money is a finite number")
        return value

    def __add__(self, other: Money) -> Money:
        if self.currency != other.currency:
            raise ValueError(f"cannot add {other.currency} to {self.currency}")
        return Money(amount=self.amount + other.amount, currency=self.currency)

    def times(self, factor: Decimal | int | float) -> Money:
        """The amount times a plain number; floats are read by their shortest decimal text."""
        exact = factor if isinstance(factor, Decimal) else Decimal(str(factor))
        return Money(amount=self.amount * exact, currency=self.currency)


class MoneyEstimate(Frozen):
    """Low, expected and high of a cost in one currency."""

    low: Decimal
    expected: Decimal
    high: Decimal
    currency: Currency

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.expected <= self.high:
            raise ValueError("not ordered: low <= expected <= high")
        return self

    @classmethod
    def exact(cls, money: Money) -> MoneyEstimate:
        """An estimate without spread."""
        return cls(low=money.amount, expected=money.amount, high=money.amount, currency=money.currency)

    @property
    def money(self) -> Money:
        """The expected amount."""
        return Money(amount=self.expected, currency=self.currency)

    def __add__(self, other: MoneyEstimate) -> MoneyEstimate:
        if self.currency != other.currency:
            raise ValueError(f"cannot add {other.currency} to {self.currency}")
        return MoneyEstimate(
            low=self.low + other.low,
            expected=self.expected + other.expected,
            high=self.high + other.high,
            currency=self.currency,
        )
