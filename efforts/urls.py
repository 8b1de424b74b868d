"""Addresses of the chat."""

from __future__ import annotations

from django.urls import include, path

from efforts.views import account, branches, chat, constraints, efforts, plans, sessions, start, verdicts, what_if

# Twice: of the main branch, and below the id of any other.
OF_A_BRANCH = [
    path("", chat.chat, name="chat"),
    path("log/", chat.log, name="log"),
    path("turns/<int:number>/", chat.turn, name="turn"),
    path("turns/<int:number>/cancel/", chat.cancel, name="cancel"),
    path("turns/<int:number>/retry/", chat.retry, name="retry"),
    path("turns/<int:number>/edit/", branches.edit, name="turn_edit"),
    path("turns/<int:number>/again/", branches.again, name="turn_again"),
    path("turns/<int:number>/fork/", branches.fork, name="turn_fork"),
    path("turns/<int:number>/move/", efforts.move, name="move"),
    path("turns/<int:number>/plans/", plans.of_turn, name="turn_plans"),
    path("turns/<int:number>/verdict/", verdicts.verdict, name="verdict"),
    path("runs/<uuid:run_id>/stop/", chat.stop, name="stop"),
    path("send/", chat.send, name="send"),
    path("context/", chat.context, name="context"),
    path("what-if/", what_if.what_if, name="what_if"),
    path("price/", chat.price, name="price"),
    path("budget/", chat.budget, name="budget"),
    path("where/", efforts.where, name="where"),
    path("efforts/", efforts.efforts, name="efforts"),
    path("efforts/new/", efforts.new, name="effort_new"),
    path("efforts/work-session/", efforts.work_session, name="work_session"),
    path("efforts/undo/<int:seq>/", efforts.undo, name="undo"),
    path("efforts/<str:slug>/price/", efforts.expand_price, name="effort_price"),
    path("efforts/<str:slug>/rename/", efforts.rename, name="effort_rename"),
    path("efforts/<str:slug>/<str:verb>/", efforts.change, name="effort"),
    path("branches/", branches.branches, name="branches"),
    path("branches/chip/", branches.chip, name="branch_chip"),
    path("branches/rename/", branches.rename, name="branch_rename"),
    path("branches/archive/", branches.archive, name="branch_archive"),
    path("rules/new/", constraints.new, name="rule_new"),
    path("rules/<int:pk>/edit/", constraints.edit, name="rule_edit"),
    path("rules/<int:pk>/<str:verb>/", constraints.change, name="rule"),
]

urlpatterns = [
    path("", start.start, name="start"),
    path("s/new/", start.new_session, name="new_session"),
    path("example/", start.example, name="example"),
    path("theme/", start.theme, name="theme"),
    path("conversations/", sessions.conversations, name="conversations"),
    path("s/<uuid:session_id>/", include(OF_A_BRANCH)),
    path("s/<uuid:session_id>/b/<uuid:branch_id>/", include(OF_A_BRANCH)),
    path("s/<uuid:session_id>/compare/", branches.compare, name="compare"),
    path("s/<uuid:session_id>/settings/", sessions.session_settings, name="session_settings"),
    path("s/<uuid:session_id>/rename/", sessions.rename, name="rename"),
    path("s/<uuid:session_id>/archive/", sessions.archive, name="archive"),
    path("s/<uuid:session_id>/delete/", sessions.delete, name="delete"),
    path("s/<uuid:session_id>/plans/<uuid:plan_id>/", plans.plan, name="plan"),
    path("s/<uuid:session_id>/plans/<uuid:plan_id>/request.json", plans.sent, name="plan_request"),
    path("s/<uuid:session_id>/plans.jsonl", plans.export, name="plans_export"),
    path("settings/rules/new/", constraints.standing_new, name="standing_rule_new"),
    path("settings/rules/<int:pk>/edit/", constraints.standing_edit, name="standing_rule_edit"),
    path("settings/rules/<int:pk>/revoke/", constraints.standing_revoke, name="standing_rule_revoke"),
    path("settings/", account.account, name="settings"),
    path("settings/health/", account.health, name="health"),
    path("settings/endpoints/new/", account.endpoint_new, name="endpoint_new"),
    path("settings/endpoints/<int:pk>/", account.endpoint_edit, name="endpoint_edit"),
    path("settings/endpoints/<int:pk>/delete/", account.endpoint_delete, name="endpoint_delete"),
    path("settings/endpoints/<int:pk>/default/", account.endpoint_default, name="endpoint_default"),
    path("settings/endpoints/<int:pk>/test/", account.endpoint_test, name="endpoint_test"),
    path("settings/endpoints/<int:pk>/models/", account.endpoint_models, name="endpoint_models"),
]
