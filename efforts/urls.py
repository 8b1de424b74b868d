"""Addresses of the chat."""

from __future__ import annotations

from django.urls import path

from efforts.views import account, chat, constraints, efforts, plans, sessions, start

urlpatterns = [
    path("", start.start, name="start"),
    path("s/new/", start.new_session, name="new_session"),
    path("example/", start.example, name="example"),
    path("theme/", start.theme, name="theme"),
    path("conversations/", sessions.conversations, name="conversations"),
    path("s/<uuid:session_id>/", chat.chat, name="chat"),
    path("s/<uuid:session_id>/log/", chat.log, name="log"),
    path("s/<uuid:session_id>/turns/<int:number>/", chat.turn, name="turn"),
    path("s/<uuid:session_id>/turns/<int:number>/cancel/", chat.cancel, name="cancel"),
    path("s/<uuid:session_id>/turns/<int:number>/retry/", chat.retry, name="retry"),
    path("s/<uuid:session_id>/turns/<int:number>/move/", efforts.move, name="move"),
    path("s/<uuid:session_id>/turns/<int:number>/plans/", plans.of_turn, name="turn_plans"),
    path("s/<uuid:session_id>/runs/<uuid:run_id>/stop/", chat.stop, name="stop"),
    path("s/<uuid:session_id>/send/", chat.send, name="send"),
    path("s/<uuid:session_id>/context/", chat.context, name="context"),
    path("s/<uuid:session_id>/price/", chat.price, name="price"),
    path("s/<uuid:session_id>/settings/", sessions.session_settings, name="session_settings"),
    path("s/<uuid:session_id>/rename/", sessions.rename, name="rename"),
    path("s/<uuid:session_id>/archive/", sessions.archive, name="archive"),
    path("s/<uuid:session_id>/delete/", sessions.delete, name="delete"),
    path("s/<uuid:session_id>/plans/<uuid:plan_id>/", plans.plan, name="plan"),
    path("s/<uuid:session_id>/plans/<uuid:plan_id>/request.json", plans.sent, name="plan_request"),
    path("s/<uuid:session_id>/where/", efforts.where, name="where"),
    path("s/<uuid:session_id>/efforts/", efforts.efforts, name="efforts"),
    path("s/<uuid:session_id>/efforts/new/", efforts.new, name="effort_new"),
    path("s/<uuid:session_id>/efforts/work-session/", efforts.work_session, name="work_session"),
    path("s/<uuid:session_id>/efforts/undo/<int:seq>/", efforts.undo, name="undo"),
    path("s/<uuid:session_id>/efforts/<str:slug>/price/", efforts.expand_price, name="effort_price"),
    path("s/<uuid:session_id>/efforts/<str:slug>/rename/", efforts.rename, name="effort_rename"),
    path("s/<uuid:session_id>/efforts/<str:slug>/<str:verb>/", efforts.change, name="effort"),
    path("s/<uuid:session_id>/rules/new/", constraints.new, name="rule_new"),
    path("s/<uuid:session_id>/rules/<int:pk>/edit/", constraints.edit, name="rule_edit"),
    path("s/<uuid:session_id>/rules/<int:pk>/<str:verb>/", constraints.change, name="rule"),
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
