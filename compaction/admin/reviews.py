"""Who reviews what and said what of it; what people allow; packages that conversations start from."""

from __future__ import annotations

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
from efforts.admin.base import ReadOnly

from .artifacts import BY_ARTIFACT, OfArtifact, of_family


@admin.register(Reviewer)
class ReviewerAdmin(ReadOnly):
    list_display = ("id", "user", "session", "named_by", "created_at", "on_page")
    search_fields = ("user__username", "session__title", "session__id")


@admin.register(ClaimVerdict)
class ClaimVerdictAdmin(OfArtifact):
    list_display = ("id", "artifact", "item", "verdict", "reviewer", "submitted_at", "updated_at", "on_page")
    list_filter = ("verdict",)
    search_fields = (*BY_ARTIFACT, "item", "text", "reviewer__username")


@admin.register(Review)
class ReviewAdmin(OfArtifact):
    list_display = ("id", "artifact", "reviewer", "made", "created_at", "on_page")
    search_fields = (*BY_ARTIFACT, "reviewer__username")


@admin.register(SetAside)
class SetAsideAdmin(OfArtifact):
    list_display = ("id", "artifact", "text", "reason", "actor", "created_at", "on_page")
    search_fields = (*BY_ARTIFACT, "text", "reason", "actor__username")


@admin.register(NotNeeded)
class NotNeededAdmin(ReadOnly):
    list_display = ("id", "key", "reason", of_family, "session", "actor", "created_at", "on_page")
    search_fields = ("family", "key", "reason", "session__title", "session__id")


@admin.register(DraftingPolicy)
class DraftingPolicyAdmin(ReadOnly):
    owner_path = "user"
    session_path = ""
    list_display = ("user", "stopped_at", "daily_cap")
    search_fields = ("user__username",)


@admin.register(SeedPackage)
class SeedPackageAdmin(ReadOnly):
    owner_path = "owner"
    list_display = ("id", "title", "state", "owner", "session", "artifact", "created_at", "on_page")
    list_filter = ("state",)
    search_fields = ("title", "owner__username", "artifact__id")
    readonly_fields = ("stages",)


@admin.register(SeedStage)
class SeedStageAdmin(ReadOnly):
    owner_path = "package__owner"
    session_path = "draft__branch__session"
    list_display = ("id", "package", "place", "draft", "on_page")
    search_fields = ("package__title", "package__owner__username")
