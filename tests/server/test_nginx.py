"""deploy/nginx.conf in front of a real server: pages, sockets, uploads, and who it is that asks."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.fakes.provider import FakeProvider, Reply
from tests.house.process import ROOT
from tests.server.conftest import PATIENCE, Server
from tests.server.websocket import Websocket

pytestmark = [pytest.mark.server, pytest.mark.slow]

MAIN = """
{user}
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def certificate(folder: Path) -> ssl.SSLContext:
    """One for 127.0.0.1, of its own; who trusts it alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    form, secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(pem, form, secret))
    (folder / "cert.pem").write_bytes(signed.public_bytes(pem))
    return ssl.create_default_context(cafile=str(folder / "cert.pem"))


class Proxied(Server):
    """The same server, asked through nginx."""

    tls: ssl.SSLContext
    front: int
    plain: int

    def request(self, method: str, path: str, **body: object) -> tuple[int, str, str]:
        with closing(http.client.HTTPSConnection("127.0.0.1", self.front, timeout=PATIENCE, context=self.tls)) as asked:
            # A proxy that believed this would let anybody be anybody.
            headers = {"Cookie": self.cookie, "X-Real-IP": "8.8.8.8", "X-Forwarded-For": "8.8.8.8"}
            headers["Referer"] = f"https://127.0.0.1:{self.front}/"
            headers["X-CSRFToken"] = self.cookies.get("csrftoken", "")
            if raw := body.pop("raw", None):
                headers["Content-Type"] = str(body.pop("kind"))
            asked.request(method, path, raw, headers)  # type: ignore[arg-type]
            answer = asked.getresponse()
            for cookie in answer.headers.get_all("Set-Cookie", []):
                assert "Secure" in cookie
                name, value = cookie.split(";")[0].split("=", 1)
                self.cookies[name] = value
            return answer.status, answer.headers.get("Location", ""), answer.read().decode()


@pytest.fixture
def nginx() -> str:
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if found is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("No nginx: apt-get install nginx-light.")
    return found


@pytest.fixture
def proxied(tmp_path: Path, nginx: str, provider: FakeProvider) -> Iterator[Proxied]:
    home = tmp_path / "home"
    server = Proxied(
        home,
        CCM_MODEL_URL=provider.url,
        CCM_MODEL_NAME="fake-1",
        CCM_HTTPS="on",
        CCM_REAL_IP="on",
        ALLOWED_HOSTS="127.0.0.1",
    )
    server.tls, server.front, server.plain, server.port = certificate(tmp_path), free_port(), free_port(), free_port()
    site = (ROOT / "deploy/nginx.conf").read_text()
    # Nobody answers at the second: it is passed over.
    for written, here in {
        "listen 80;": f"listen 127.0.0.1:{server.plain};",
        "listen 443 ssl;": f"listen 127.0.0.1:{server.front} ssl;",
        "/etc/ssl/certs/chat.example.org.pem": str(tmp_path / "cert.pem"),
        "/etc/ssl/private/chat.example.org.key": str(tmp_path / "key.pem"),
        "127.0.0.1:8000": f"127.0.0.1:{server.port}",
        "127.0.0.1:8001": f"127.0.0.1:{free_port()}",
    }.items():
        assert site.count(written) == 1
        site = site.replace(written, here)
    (tmp_path / "site.conf").write_text(site)
    main = tmp_path / "main.conf"
    # Else root's workers become somebody who may not write here.
    main.write_text(MAIN.format(folder=tmp_path, user="user root;" if os.geteuid() == 0 else ""))
    tested = subprocess.run([nginx, "-t", "-c", str(main)], capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stderr
    front = subprocess.Popen([nginx, "-c", str(main)], stderr=subprocess.DEVNULL)
    try:
        server.start()
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.kill()
        front.terminate()
        front.wait(PATIENCE)


async def test_what_passes_and_that_an_end_is_told(proxied: Proxied, provider: FakeProvider) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", proxied.plain, timeout=PATIENCE)) as plain:
        plain.request("GET", "/search/?q=x")
        assert plain.getresponse().status == 301
    session = proxied.new_session()
    await one_turn(proxied, provider, session)
    # Larger than nginx takes by itself; the server reads it, and says what it is not.
    status, _, text = upload(proxied, session, 2 * 1024 * 1024)
    assert (status, "The archive holds no files" in text) == (422, True)
    assert upload(proxied, session, 70 * 1024 * 1024)[0] == 413
    assert proxied.request("GET", "/operations/metrics")[0] == 404
    # As the proxy sees them, not as they say.
    signed_out = Proxied(proxied.home)
    signed_out.tls, signed_out.front = proxied.tls, proxied.front
    signed_out.request("GET", "/sign-in/")
    wrong = f"username=owner&password=wrong&csrfmiddlewaretoken={signed_out.cookies['csrftoken']}".encode()
    signed_out.request("POST", "/sign-in/", raw=wrong, kind="application/x-www-form-urlencoded")
    assert proxied.rows("SELECT ip_address FROM axes_accessattempt") == [("127.0.0.1",)]
    proxied.kill()
    status, _, text = proxied.request("GET", "/")
    assert (status, "CCM Web is not running just now" in text) == (503, True)


async def one_turn(proxied: Proxied, provider: FakeProvider, session: str) -> None:
    provider.script = [Reply("One two three.")]
    tab = await Websocket.open(proxied.front, f"/ws/s/{session}/", proxied.cookie, proxied.tls)
    tab.patience = PATIENCE
    async with tab:
        await tab.say(kind="hello", last_seq=0)
        await tab.say(kind="send", text="Count", client_id="one")
        await tab.until("run.ended", state="completed")


def upload(proxied: Proxied, session: str, size: int) -> tuple[int, str, str]:
    edge = "edge"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="archive"; filename="a.zip"\r\n\r\n'
    body = head.encode() + bytes(size) + f"\r\n--{edge}--\r\n".encode()
    kind = f"multipart/form-data; boundary={edge}"
    try:
        return proxied.request("POST", f"/s/{session}/code/", raw=body, kind=kind)
    except (BrokenPipeError, ConnectionResetError):
        # It refuses by the length that is announced, and reads no further.
        return 413, "", ""


def test_the_examples_for_containers_name_what_is_there() -> None:
    """Their form alone: no engine runs here."""
    import yaml

    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
    assert set(compose["services"]) == {"web-1", "web-2", "worker", "database", "redis"}
    listed = (ROOT / ".env.example").read_text()
    for name in compose["x-app"]["environment"]:
        assert f"# {name}=" in listed
    lines = (ROOT / "deploy/Dockerfile").read_text().splitlines()
    known = {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "CMD"}
    assert {line.split()[0] for line in lines if line and not line.startswith("#")} == known
    copied = [line.split()[1] for line in lines if line.startswith("COPY")]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    apps = {path.parent.name for path in ROOT.glob("*/apps.py")} - {"benchmarks"}
    assert apps <= set(copied)
