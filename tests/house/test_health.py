"""What a supervisor asks."""

from __future__ import annotations

from channels.layers import channel_layers
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.contrib.auth.models import User
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from ccmweb.health import channel_layer_problem


def test_a_living_process_says_how_late_its_loop_is(anyone: Client) -> None:
    body = anyone.get("/livez").json()
    assert body["ok"] is True
    assert body["loop_lag_ms"] >= 0


def test_living_asks_no_database(anyone: Client, db: None, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        assert anyone.get("/livez").status_code == 200


def test_a_ready_process_says_so_without_details(anyone: Client, db: None) -> None:
    response = anyone.get("/readyz")
    assert response.json() == {"ready": True}
    assert response.status_code == 200


def test_staff_see_the_parts(as_alice: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    assert as_alice.get("/readyz").json()["details"] == {"database": "ok", "channel_layer": "ok"}


def test_a_pending_migration_is_not_ready(anyone: Client, db: None) -> None:
    MigrationRecorder.Migration.objects.filter(app="ccmweb").delete()
    response = anyone.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {"ready": False}


async def test_a_channel_layer_out_of_reach_is_a_problem() -> None:
    before = channel_layers.set("default", RedisPubSubChannelLayer(hosts=["redis://127.0.0.1:1/0"]))
    try:
        assert "no round trip" in await channel_layer_problem()
    finally:
        channel_layers.set("default", before)
