"""Addresses of compaction."""

from __future__ import annotations

from django.urls import path

from compaction.pages.views import accepting, artifact, queue, reviewing, seeds, sessions, usage

urlpatterns = [
    path("settings/drafting/", usage.drafting, name="drafting"),
    path("settings/drafting/stop/", usage.stop, name="drafting_stop"),
    path("settings/drafting/allow/", usage.allow, name="drafting_allow"),
    path("settings/drafting/cap/", usage.cap, name="drafting_cap"),
    path("settings/drafting/checker/", usage.checker, name="drafting_checker"),
    path("settings/drafting/runs/<slug:purpose>/<int:days>/", usage.runs, name="drafting_runs"),
    path("settings/checkers/", usage.checkers, name="checkers"),
    path("settings/checkers/<int:pk>/exam/", usage.exam, name="checker_exam"),
    path("review/", queue.queue, name="reviews"),
    path("review/waiting/", queue.waiting, name="reviews_waiting"),
    path("review/seeds/", seeds.packages, name="seed_packages"),
    path("review/seeds/new/", seeds.new, name="seed_new"),
    path("review/seeds/<int:pk>/", seeds.package, name="seed_package"),
    path("review/seeds/<int:pk>/together/", seeds.put_together, name="seed_together"),
    path("review/seeds/<int:pk>/stop/", seeds.stop, name="seed_stop"),
    path("review/seeds/<int:pk>/start/", seeds.start, name="seed_start"),
    path("review/seeds/<int:pk>/stages/<int:place>/redraft/", seeds.redraft, name="seed_redraft"),
    path("review/<slug:artifact_id>/", artifact.artifact, name="artifact"),
    path("review/<slug:artifact_id>/top/", artifact.top, name="review_top"),
    path("review/<slug:artifact_id>/claims/", artifact.panel, {"template": "review/claims.html"}, name="claims"),
    path("review/<slug:artifact_id>/claims/<path:item>/", reviewing.claim, name="claim"),
    path("review/<slug:artifact_id>/undo/", reviewing.undo, name="review_undo"),
    path("review/<slug:artifact_id>/submit/", reviewing.submit, name="review_submit"),
    path("review/<slug:artifact_id>/desk/", artifact.panel, {"template": "review/desk.html"}, name="review_desk"),
    path(
        "review/<slug:artifact_id>/preview/", artifact.panel, {"template": "review/preview.html"}, name="review_preview"
    ),
    path("review/<slug:artifact_id>/judge/", reviewing.judge, name="review_judge"),
    path("review/<slug:artifact_id>/redraft/", reviewing.redraft, name="review_redraft"),
    path("review/<slug:artifact_id>/reject/", reviewing.reject, name="review_reject"),
    path("review/<slug:artifact_id>/findings/<path:finding_id>/", reviewing.finding, name="finding"),
    path("review/<slug:artifact_id>/dropped/<str:key>/<slug:verb>/", reviewing.dropped, name="dropped"),
    path("review/<slug:artifact_id>/diff/<slug:other_id>/", reviewing.compare, name="compare"),
    path("review/<slug:artifact_id>/gates/<slug:letter>/", artifact.gate, name="gate"),
    path("review/<slug:artifact_id>/accept/", accepting.accept, name="accept"),
    path("review/<slug:artifact_id>/rollback/", accepting.rollback, name="rollback"),
    path("review/<slug:artifact_id>/saving/", accepting.saving, name="review_saving"),
    path("review/<slug:artifact_id>/standing/", accepting.standing, name="standing"),
    path("review/<slug:artifact_id>/history/", accepting.history, name="history"),
    path("s/<uuid:session_id>/reviewers/", sessions.reviewers, name="reviewers"),
    path("s/<uuid:session_id>/reviewers/<int:pk>/remove/", sessions.remove, name="reviewer_remove"),
    path("s/<uuid:session_id>/checker/", sessions.elsewhere, name="checker_elsewhere"),
    path("s/<uuid:session_id>/rolling/", sessions.rolling, name="rolling"),
    path("s/<uuid:session_id>/summaries/", accepting.summaries, name="summaries"),
    path("s/<uuid:session_id>/b/<uuid:branch_id>/summaries/", accepting.summaries, name="summaries"),
]
