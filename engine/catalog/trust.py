"""Signatures of packs (Ed25519, by PyNaCl): one's own key, and the keys that the user approved by name."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field

from engine.catalog.store import user_database_path
from engine.errors import InputError, WorldError
from engine.files import write_atomically
from engine.quantity import Frozen

__all__ = ["Signature", "Signed", "approve", "own_key", "public_key", "sign", "trusted_keys", "verify"]

Signed: TypeAlias = Literal["unsigned", "signed"]


class Signature(Frozen):
    """A signature of a manifest's bytes."""

    key: str = Field(pattern=r"^[0-9a-f]{64}$")
    signature: str = Field(pattern=r"^[0-9a-f]{128}$")


def sign(content: bytes, key: bytes) -> Signature:
    """Sign with a secret key of 32 bytes."""
    from nacl.signing import SigningKey

    made = SigningKey(key)
    return Signature(key=bytes(made.verify_key).hex(), signature=made.sign(content).signature.hex())


def verify(content: bytes, signature: Signature | None) -> tuple[Signed, str]:
    """Whether content is signed, and by which key; a signature that does not fit is an `InputError`."""
    if signature is None:
        return "unsigned", ""
    from nacl.exceptions import BadSignatureError
    from nacl.signing import VerifyKey

    try:
        VerifyKey(bytes.fromhex(signature.key)).verify(content, bytes.fromhex(signature.signature))
    except (BadSignatureError, ValueError, TypeError) as error:
        raise InputError("pack.bad_signature") from error
    return "signed", signature.key


def own_key() -> bytes:
    """The secret key of this user; made at the first use, readable by nobody else."""
    path = user_database_path().with_name("signing-key")
    try:
        if not path.exists():
            from nacl.signing import SigningKey

            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(bytes(SigningKey.generate()).hex().encode())
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
        if len(key) != 32:
            raise ValueError("32")
    except (OSError, ValueError) as error:
        raise WorldError("pack.key_unreadable", path=str(path), detail=str(error)) from error
    return key


def public_key(key: bytes) -> str:
    """What others approve in order to know one's packs."""
    from nacl.signing import SigningKey

    return bytes(SigningKey(key).verify_key).hex()


def _trusted_path() -> Path:
    return user_database_path().with_name("approved-keys.json")


def trusted_keys() -> Mapping[str, str]:
    """Names by public key, as the user approved them."""
    path = _trusted_path()
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {str(k): str(v) for k, v in dict(content).items()}
    except (OSError, ValueError, TypeError) as error:
        raise WorldError("pack.key_unreadable", path=str(path), detail=str(error)) from error


def approve(key: str, name: str) -> None:
    """From now on, packs signed with this key are known as made by `name`."""
    key = key.strip().lower()
    if len(key) != 64 or set(key) - set("0123456789abcdef") or not name.strip():
        raise InputError("pack.bad_key", value=key[:80])
    content = json.dumps({**trusted_keys(), key: name.strip()}, ensure_ascii=False, indent=1)
    write_atomically(_trusted_path(), content.encode())
