"""The keys of the record, in files that only their owner reads: one signs, one leads from a case to its pseudonym."""

from __future__ import annotations

import base64
import hmac
import os
import secrets
import uuid
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from mpd2.core.errors import UserError

SIGNING, PUBLIC, CASES = "signing.key", "public.pem", "cases.key"
NAMES = (SIGNING, CASES)


@dataclass(frozen=True)
class Keys:
    """Both keys, from a folder's files."""

    signing: Ed25519PrivateKey
    cases: bytes

    @cached_property
    def public(self) -> PublicKey:
        """What others verify with."""
        return PublicKey(self.signing.public_key())

    def sign(self, text: str) -> str:
        """A signature, in Base64."""
        return base64.b64encode(self.signing.sign(text.encode())).decode()

    def lookup(self, case: str) -> str:
        """Where the key of a case is kept, without saying which case it is."""
        return keyed(self.cases, case)


@dataclass(frozen=True)
class PublicKey:
    """A key that can verify and not sign."""

    key: Ed25519PublicKey

    @property
    def pem(self) -> str:
        """As a file."""
        return self.key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def id(self) -> str:
        """A short name."""
        return sha256(self.key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]

    def has_signed(self, text: str, signature: str) -> bool:
        """Whether a signature is this key's."""
        try:
            self.key.verify(base64.b64decode(signature, validate=True), text.encode("utf-8", "surrogatepass"))
        except (InvalidSignature, ValueError):
            return False
        return True


def keyed(key: bytes, text: str) -> str:
    """HMAC-SHA256, in hexadecimal."""
    return hmac.new(key, text.encode("utf-8", "replace"), sha256).hexdigest()


def new_case_key() -> str:
    """A key for one case, in hexadecimal."""
    return secrets.token_hex(32)


def pseudonym(case_key: str, case: str) -> str:
    """What a case is called in the record; without its key nobody can tell which it is."""
    return keyed(case_key.encode(), case)


def read_public(text: str, name: str) -> PublicKey:
    """A public key from the text of its file."""
    try:
        key = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise UserError(f"{name}: is no Ed25519 public key in PEM form")
    return PublicKey(key)


def open_keys(folder: Path, make: bool = True) -> Keys:
    """The keys in a folder, made if none are there and `make` says so."""
    try:
        if make:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _make(folder / SIGNING, _new_signing_key)
            _make(folder / CASES, lambda: secrets.token_hex(32).encode())
        keys = Keys(_signing(_private(folder / SIGNING)), _cases(_private(folder / CASES)))
        if make:
            _make(folder / PUBLIC, keys.public.pem.encode, mode=0o644)
    except OSError as error:
        name = Path(error.filename or folder).name
        raise UserError(
            f"record: its key {name} cannot be read or made: {error.strerror}; bring it back from a backup"
        ) from error
    return keys


def _new_signing_key() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _make(path: Path, content: object, mode: int = 0o600) -> None:
    """Write a file unless there is one; of several processes that begin at once, one makes it and all use it."""
    if path.exists():
        return
    assert callable(content)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        write_private(draft, content(), mode)
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        draft.unlink(missing_ok=True)


def write_private(path: Path, content: bytes, mode: int = 0o600) -> None:
    """A file that only its owner reads, on disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _private(path: Path) -> bytes:
    if path.stat().st_mode & 0o077:
        raise UserError(f"record: its key {path.name} can be read by others than its owner; chmod 600 puts it right")
    return path.read_bytes()


def _signing(content: bytes) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise UserError(f"record: {SIGNING} is no Ed25519 key in PEM form; bring it back from a backup")
    return key


def _cases(content: bytes) -> bytes:
    try:
        key = bytes.fromhex(content.decode())
    except ValueError:
        key = b""
    if len(key) != 32:
        raise UserError(f"record: {CASES} is not 64 hexadecimal digits; bring it back from a backup")
    return key
