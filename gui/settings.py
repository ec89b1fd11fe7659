"""What the program remembers about the person's taste: language, theme, scale, recent files, window place.

One JSON file in the platform's configuration folder. Keys that we don't know are kept (a newer version may have
written them); a value that can't be used falls back to its default and is logged.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.errors import KnownError
from engine.files import write_atomically

__all__ = ["APP_NAME", "MAX_RECENT", "SCALES", "Settings", "SettingsFile", "config_folder", "state_folder"]

_log = logging.getLogger(__name__)

APP_NAME = "gpu-advisor"
#: Letter sizes that the menu offers, as factors.
SCALES: tuple[float, ...] = (1.0, 1.25, 1.5, 1.75, 2.0)
#: Recent files that are remembered.
MAX_RECENT = 10


def config_folder() -> Path:
    """Where the settings live."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False)


def state_folder() -> Path:
    """Where unsaved work and logs live."""
    return platformdirs.user_state_path(APP_NAME, appauthor=False)


class Settings(BaseModel):
    """All that is remembered between two starts."""

    model_config = ConfigDict(frozen=True, extra="allow")

    language: Literal["system", "en", "zh_CN"] = "system"
    theme: Literal["system", "light", "dark"] = "system"
    scale: float = Field(default=1.0, ge=0.75, le=3.0)
    recent: tuple[str, ...] = ()
    geometry: str = ""  # Qt's own bytes, base64
    last_folder: str = ""

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Settings:
        """Settings from a file's content; each bad value falls back to its default."""
        try:
            return cls.model_validate(raw)
        except ValidationError as error:
            bad = {str(item["loc"][0]) for item in error.errors() if item["loc"]}
            _log.warning("settings that can't be used fall back to their defaults: %s", ", ".join(sorted(bad)))
            return cls.model_validate({k: v for k, v in raw.items() if k not in bad})

    def with_recent(self, path: str) -> Settings:
        """The same with `path` first among the recent files."""
        recent = (path, *(p for p in self.recent if p != path))[:MAX_RECENT]
        return self.changed(recent=recent)

    def changed(self, **changes: Any) -> Settings:
        """The same with other values, validated."""
        return type(self).model_validate({**self.model_dump(), **changes})


class SettingsFile:
    """Keeps `Settings` in step with their file."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else config_folder() / "settings.json"
        self.value = self._load()

    def _load(self) -> Settings:
        try:
            raw = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return Settings()
        except (OSError, RecursionError, ValueError) as error:
            _log.warning("settings can't be read, defaults are used: %s", error)
            return Settings()
        return Settings.read(raw) if isinstance(raw, dict) else Settings()

    def update(self, **changes: Any) -> None:
        """Change some settings and write them; a disk that refuses is logged, the program goes on."""
        self.store(self.value.changed(**changes))

    def store(self, value: Settings) -> None:
        """Replace the settings and write them if they differ."""
        if value == self.value:
            return
        self.value = value
        try:
            write_atomically(self.path, value.model_dump_json(indent=2).encode())
        except KnownError as error:
            _log.warning("settings could not be written: %s", error)
