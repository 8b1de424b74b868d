"""Who reviews what and said what of it; what people allow; packages that conversations start from."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from compaction.models import (
    ClaimVerdict,
    DraftingPolicy,
    NotNeeded,
    Review,
    Reviewer,
    SeedPackage,
    SeedStage,
    SetAside,
)
from efforts.admin.base import ReadOnly, artifact_link, link, linked, linked_all


@admin.register(Reviewer)
class ReviewerAdmin(ReadOnly):
    list_display = ("id", "user", "of_session", "named_by", "created_at", "on_page")
    search_fields = ("user__username", "session__title", "session__id")
    date_hierarchy = "created_at"
    list_select_related = ("user", "session", "named_by")
    of_session = linked("session")


BY_ARTIFACT = ("artifact__id", "artifact__session__title", "artifact__session__id")


class OfArtifact(ReadOnly):
    """What was said of an artifact: joined to it, and to its page."""

    owner_path = "artifact__session__owner"
    session_path = "artifact__session"
    of_artifact = linked("artifact")

    @admin.display(description="On the page")
    def on_page(self, row: Any) -> str:
        return link("Open", "artifact", row.artifact_id)


@admin.register(ClaimVerdict)
class ClaimVerdictAdmin(OfArtifact):
    list_display = ("id", "of_artifact", "item", "verdict", "reviewer", "submitted_at", "updated_at", "on_page")
    list_filter = ("verdict",)
    search_fields = (*BY_ARTIFACT, "item", "text", "reviewer__username")
    list_select_related = ("artifact__session", "reviewer")


@admin.register(Review)
class ReviewAdmin(OfArtifact):
    list_display = ("id", "of_artifact", "reviewer", "of_made", "created_at", "on_page")
    search_fields = (*BY_ARTIFACT, "reviewer__username")
    date_hierarchy = "created_at"
    list_select_related = ("artifact__session", "reviewer", "made")
    of_made = linked("made")


@admin.register(SetAside)
class SetAsideAdmin(OfArtifact):
    list_display = ("id", "of_artifact", "text", "reason", "actor", "created_at", "on_page")
    search_fields = (*BY_ARTIFACT, "text", "reason", "actor__username")
    date_hierarchy = "created_at"
    list_select_related = ("artifact__session", "actor")


@admin.register(NotNeeded)
class NotNeededAdmin(ReadOnly):
    list_display = ("id", "key", "reason", "of_family", "of_session", "actor", "created_at", "on_page")
    search_fields = ("family", "key", "reason", "session__title", "session__id")
    date_hierarchy = "created_at"
    list_select_related = ("session", "actor")
    of_session = linked("session")

    @admin.display(description="Artifact")
    def of_family(self, row: NotNeeded) -> str:
        return artifact_link(row.family)


@admin.register(DraftingPolicy)
class DraftingPolicyAdmin(ReadOnly):
    owner_path = "user"
    session_path = ""
    list_display = ("user", "stopped_at", "daily_cap")
    search_fields = ("user__username",)
    list_select_related = ("user",)


@admin.register(SeedPackage)
class SeedPackageAdmin(ReadOnly):
    owner_path = "owner"
    list_display = ("id", "title", "state", "owner", "of_session", "of_artifact", "created_at", "on_page")
    list_filter = ("state",)
    search_fields = ("title", "owner__username", "artifact__id")
    date_hierarchy = "created_at"
    list_select_related = ("owner", "session", "artifact")
    readonly_fields = ("of_stages",)
    of_session, of_artifact = linked("session"), linked("artifact")
    of_stages = linked_all("stages")


@admin.register(SeedStage)
class SeedStageAdmin(ReadOnly):
    owner_path = "package__owner"
    session_path = "draft__branch__session"
    list_display = ("id", "of_package", "place", "of_draft", "on_page")
    search_fields = ("package__title", "package__owner__username")
    list_select_related = ("package", "draft__branch__session")
    of_package, of_draft = linked("package"), linked("draft")
