"""What only the applicant can state. Everything is optional; what is missing prints as to be completed (rule R3)."""

from __future__ import annotations

from pydantic import Field

from engine.quantity import Frozen

__all__ = ["ReportDetails"]


class ReportDetails(Frozen):
    """Facts about the applicant and the request."""

    title: str = Field(default="", max_length=300)
    applicant: str = Field(default="", max_length=200)
    unit: str = Field(default="", max_length=200)
    fund: str = Field(default="", max_length=200)  # name and number of the money
    why_now: str = Field(default="", max_length=4000)
    decision_by: str = Field(default="", max_length=100)
    next_step: str = Field(default="", max_length=1000)
    shared_enquiry: str = Field(default="", max_length=2000)  # dated answer of the shared facility
