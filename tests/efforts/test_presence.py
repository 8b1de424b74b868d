"""Whether what stands for turns is in the prompt, told of all of a conversation at once."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from efforts import actions
from efforts.context.efforts import effort_views
from efforts.context.planning import main_branch
from efforts.context.presence import Presence, presences_of
from efforts.domain.effort.states import EffortStatus
from efforts.models import ContextPointer, Effort, EffortState

pytestmark = pytest.mark.django_db
# SQLite takes a thousand conditions.
MANY = 1_001


def test_thousands_of_concluded_efforts_are_shown(alice: User) -> None:
    branch = main_branch(actions.create_session(alice))
    names = [f"effort-{number}" for number in range(MANY)]
    efforts = Effort.objects.bulk_create(Effort(session=branch.session, slug=name, name=name) for name in names)
    EffortState.objects.bulk_create(
        EffortState(branch=branch, effort=one, status=EffortStatus.CONCLUDED, opened_turn=1, concluded_turn=1)
        for one in efforts
    )
    pointers = ContextPointer.objects.bulk_create(
        ContextPointer(branch=branch, effort=one, tokens=1) for one in efforts
    )
    EffortState.objects.filter(effort=efforts[0]).update(evicted_clock=1)
    assert len(effort_views(branch)) == MANY
    present = presences_of(pointers)
    assert [present[one.pk] for one in pointers[:2]] == [Presence.LEFT, Presence.SENT]
