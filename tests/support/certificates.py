"""Certificates for the servers of tests."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Authority:
    """An authority that a person has made: its key and its own certificate."""

    key: ec.EllipticCurvePrivateKey
    own: x509.Certificate

    @property
    def pem(self) -> str:
        return self.own.public_bytes(serialization.Encoding.PEM).decode()


def authority() -> Authority:
    """Make an authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = named("an authority")
    return Authority(key, signed(key, name, (key, name), 2090))


def certificate(
    file: Path, last_year: int, by: Authority | None = None, address: str = "127.0.0.1"
) -> None:
    """Write a key and a certificate for an address, valid from 2020 on: signed by an authority, or
    with the key itself."""
    key, name = ec.generate_private_key(ec.SECP256R1()), named("object store")
    signer = (by.key, by.own.subject) if by is not None else (key, name)
    made = signed(key, name, signer, last_year, address)
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )


def named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def signed(
    key: ec.EllipticCurvePrivateKey,
    name: x509.Name,
    signer: tuple[ec.EllipticCurvePrivateKey, x509.Name],
    last_year: int,
    address: str | None = None,
) -> x509.Certificate:
    """Make a certificate of a server; of an authority, which may be a server, too, where it is
    signed with the own key."""
    by, issuer = signer
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
        .not_valid_after(datetime.datetime(last_year, 12, 31, tzinfo=datetime.UTC))
        .add_extension(x509.BasicConstraints(ca=key is by, path_length=None), critical=True)
    )
    if address is not None:
        place = x509.IPAddress(ipaddress.ip_address(address))
        made = made.add_extension(x509.SubjectAlternativeName([place]), critical=False)
    return made.sign(by, hashes.SHA256())


def only_certificate(file: Path) -> str:
    text = file.read_text()
    return text[text.index("-----BEGIN CERTIFICATE-----") :]
