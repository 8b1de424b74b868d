"""A person's own model is asked only where the operator lets it be, and just there where this was checked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from django.contrib.auth.models import User

from efforts.context import connections
from efforts.domain.hosts import AllowedHosts, fault_of
from efforts.llm.openai_chat import OpenAIChat, _tls
from efforts.llm.protocol import ModelError
from efforts.llm.reach import CheckedTransport
from efforts.models import Endpoint, Session
from tests.fakes.provider import FakeProvider, Status

HELLO = {"model": "small", "messages": [{"role": "user", "content": "hi"}], "stream": True}


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


def endpoint(address: str, *, is_staff: bool = False) -> Endpoint:
    return Endpoint(owner=User(is_staff=is_staff), name="Own", base_url=address, model="small", timeout_seconds=5)


async def asked(choice: connections.ModelChoice) -> str:
    return await connections.connect(choice).probe(choice.model)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::", "64:ff9b::7f00:1", "2002:7f00:1::"),
        *("10.0.0.1", "172.31.0.9", "192.168.1.20", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1"),
        *("169.254.169.254", "fe80::1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "64:ff9b::a9fe:a9fe"),
    ],
)
def test_what_is_not_public_is_reached_only_where_the_operator_says_so(address: str) -> None:
    assert not AllowedHosts.of(["public"]).allow("models.example", 443, [address])
    assert AllowedHosts.of(["public", address]).allow("models.example", 443, [address]) == (
        # What wraps an IPv4 address is that one.
        not address.startswith(("::ffff:", "64:ff9b:", "2002:"))
    )


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "64:ff9b::101:101"])
def test_public_addresses_need_no_setting(address: str) -> None:
    assert AllowedHosts.of(["public"]).allow("models.example", 443, [address])
    assert not AllowedHosts.of(["loopback"]).allow("models.example", 443, [address])


def test_one_line_allows_a_machine_of_the_local_network_by_address_network_or_name() -> None:
    for line in ("192.168.1.20", "192.168.1.0/24", "private", "box.lan", "box.lan:8080"):
        assert AllowedHosts.of(["public", "loopback", line]).allow("box.lan", 8080, ["192.168.1.20"])
    assert not AllowedHosts.of(["box.lan:8080"]).allow("box.lan", 22, ["192.168.1.20"])
    assert not AllowedHosts.of(["192.168.1.20"]).allow("other.lan", 8080, ["192.168.1.21"])


def test_a_name_that_also_leads_inside_is_refused_whole() -> None:
    assert not AllowedHosts.of(["public"]).allow("models.example", 443, ["1.1.1.1", "10.0.0.1"])


@pytest.mark.parametrize("entry", ["http://box.lan", "a b", "box.lan:many", "box.lan/v1", "192.168.1.0/99", ":80"])
def test_an_entry_that_means_nothing_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match=r"is no host|Port could not|not a valid port|out of range"):
        AllowedHosts.of([entry])


async def test_with_defaults_a_model_on_loopback_answers(provider: FakeProvider) -> None:
    assert await asked(connections.of_endpoint(endpoint(provider.url))) == "All right."


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"])
async def test_where_loopback_is_not_allowed_nothing_is_sent_there(provider, settings, host: str) -> None:
    settings.CCM_MODEL_HOSTS = ["public"]
    address = provider.url.replace("127.0.0.1", host)
    with pytest.raises(ModelError, match="does not allow a model at") as refused:
        await asked(connections.of_endpoint(endpoint(address)))
    assert refused.value.code == "not_allowed"
    assert provider.bodies == []


async def test_the_operators_own_address_needs_no_permission(provider, settings) -> None:
    settings.CCM_MODEL_HOSTS = ["public"]
    settings.CCM_MODEL_URL, settings.CCM_MODEL_NAME = provider.url, "small"
    assert await asked(connections.choose(Session())) == "All right."


async def test_the_connection_goes_to_the_address_that_was_checked(provider: FakeProvider) -> None:
    looked_up = []

    async def rebinding(host: str, port: int) -> list[str]:
        looked_up.append(host)
        # Checked, the name is at home here; whoever asked once more would be led away.
        return ["127.0.0.1"] if len(looked_up) == 1 else ["192.0.2.1"]

    transport = CheckedTransport(AllowedHosts.of(["loopback"]), _tls(), rebinding)
    model = OpenAIChat(provider.url.replace("127.0.0.1", "models.invalid"), "", 5, 0, transport=transport)
    assert await model.probe("small") == "All right."
    assert looked_up == ["models.invalid"]
    assert provider.headers[0]["host"].startswith("models.invalid:")


async def test_a_gateway_may_say_much_in_its_headers() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        policy = b"Content-Security-Policy: " + b"x" * 30_000
        writer.write(
            b"HTTP/1.1 200 OK\r\n"
            + policy
            + b'\r\nContent-Type: application/json\r\nContent-Length: 23\r\n\r\n{"data":[{"id":"big"}]}'
        )
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        model = OpenAIChat(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "", 5, 0)
        assert [one.id for one in await model.list_models()] == ["big"]


@pytest.mark.parametrize(("host", "trusted"), [("models.example", True), ("other.example", False)])
async def test_a_certificate_is_asked_for_by_name(host: str, trusted: bool, tmp_path: Path) -> None:
    """The address stands in the connection alone: else any server there could answer."""
    certificate = certificate_of("models.example", tmp_path)
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(certificate)

    async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    async def found(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    heads: list[bytes] = []
    async with await asyncio.start_server(hello, "127.0.0.1", 0, ssl=own) as server:
        port = server.sockets[0].getsockname()[1]
        trusting = ssl.create_default_context(cafile=certificate)
        model = OpenAIChat(
            f"https://{host}:{port}/v1",
            *("", 5, 0),
            transport=CheckedTransport(AllowedHosts.of(["loopback"]), trusting, found),
        )
        with pytest.raises(ModelError) as told:
            await model.list_models()
    if trusted:
        assert told.value.text.startswith("The address answered, but not with a list of models.")
        assert f"host: models.example:{port}".encode() in heads[0].lower()
    else:
        assert "the certificate of other.example is not trusted" in told.value.text
        assert heads == []


def certificate_of(host: str, folder: Path) -> Path:
    """Signed by itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (file := folder / "certificate.pem").write_bytes(plain + made.public_bytes(Encoding.PEM))
    return file


async def test_the_second_address_of_a_host_is_tried_where_the_first_does_not_answer(provider: FakeProvider) -> None:
    async def both(host: str, port: int) -> list[str]:
        return ["::1", "127.0.0.1"]

    transport = CheckedTransport(AllowedHosts.of(["loopback"]), _tls(), both)
    model = OpenAIChat(provider.url.replace("127.0.0.1", "localhost"), "", 5, 0, transport=transport)
    assert await model.probe("small") == "All right."


async def test_a_redirect_is_not_followed(provider: FakeProvider) -> None:
    provider.script = [Status(307, headers={"location": "http://169.254.169.254/latest/meta-data/"})]
    with pytest.raises(ModelError) as refused:
        await OpenAIChat(provider.url, "", 5, 0, allowed=AllowedHosts.of(["loopback"])).probe("small")
    assert "meta-data" not in refused.value.text
    assert len(provider.bodies) == 1


async def test_a_name_that_nobody_knows_is_said_to_be_unknown() -> None:
    model = OpenAIChat("http://models.invalid/v1", "", 5, 0, allowed=AllowedHosts.of(["public"]))
    with pytest.raises(ModelError, match=r"no host has the name models\.invalid") as refused:
        await model.probe("small")
    assert refused.value.code == "unreachable"


@pytest.mark.parametrize(
    "address",
    [
        *("http://127.0.0.1/internal?b=", "http://127.0.0.1/v1#", "http://me:secret@models.example/v1"),
        *("http://me@models.example", "ftp://models.example", "models.example", "http://", "http://[", "http://a:b"),
    ],
)
async def test_an_address_that_steers_where_a_request_goes_is_not_used(address: str, provider: FakeProvider) -> None:
    assert fault_of(address)
    with pytest.raises(ModelError, match="Correct it in Settings"):
        await OpenAIChat(address, "", 5, 0).probe("small")


def test_where_own_models_are_for_staff_those_of_others_lead_nowhere(settings) -> None:
    settings.CCM_OWN_MODELS = "staff"
    address = "https://models.example/v1"
    assert connections.of_endpoint(endpoint(address)).allowed == AllowedHosts()
    assert connections.of_endpoint(endpoint(address, is_staff=True)).allowed == AllowedHosts.of(
        settings.CCM_MODEL_HOSTS
    )
