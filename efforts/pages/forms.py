"""Forms of the pages: what a person may type, checked before an action sees it."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.validators import URLValidator
from django.db import transaction
from django.utils import timezone

from efforts.actions.constraints import LONGEST_RULE
from efforts.actions.conversations import LARGEST_BUDGET, LARGEST_WINDOW
from efforts.actions.ledger import LONGEST_ENTRY
from efforts.context.connections import available_models, chosen_value, encrypt_key
from efforts.context.efforts import EffortView, Standing
from efforts.context.ledger import LedgerView
from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import ReviewMode
from efforts.domain.prompt.budget import SMALLEST_BUDGET
from efforts.llm.builtin.transport import BUILTIN_MODEL
from efforts.log import events
from efforts.models import Endpoint, Session
from efforts.models.endpoint import DRAFT_SECONDS
from efforts.pages.presenters.owner_search import Filters, HitKind
from efforts.pages.presenters.search import LOOKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    ModelFormOfEndpoint = forms.ModelForm[Endpoint]
else:
    ModelFormOfEndpoint = forms.ModelForm


class RenameForm(forms.Form):
    title = forms.CharField(
        label="Title", max_length=200, widget=forms.TextInput(attrs={"dir": "auto", "autofocus": True})
    )


class EffortForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto", "autofocus": True}),
    )


class BranchForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto", "autofocus": True}),
    )


class RuleForm(forms.Form):
    text = forms.CharField(
        label="Rule",
        max_length=LONGEST_RULE,
        widget=forms.Textarea(attrs={"class": "input", "rows": 4, "dir": "auto", "autofocus": True}),
    )


class EntryForm(forms.Form):
    """Text for the ledger; `replaces` is among the decisions that are kept."""

    text = forms.CharField(
        label="Text",
        max_length=LONGEST_ENTRY,
        widget=forms.Textarea(attrs={"class": "input", "rows": 4, "dir": "auto", "autofocus": True}),
    )
    replaces = forms.ChoiceField(label="If it is a decision, it replaces", required=False)

    def __init__(self, kept: Iterable[LedgerView] = (), data: Mapping[str, Any] | None = None, **more: Any) -> None:
        super().__init__(data, **more)
        listed = [(str(one.id), one.text[:80]) for one in kept]
        if listed:
            self.fields["replaces"].choices = [("", "none"), *listed]  # type: ignore[attr-defined]
        else:
            del self.fields["replaces"]


class SearchForm(forms.Form):
    """Where to look. The words themselves are no field: whatever they are, they are looked for."""

    kind = forms.MultipleChoiceField(
        label="What",
        choices=[(str(kind), look.plural) for kind, look in LOOKS.items()],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    session = forms.ChoiceField(label="Conversation", required=False)
    since = forms.DateField(label="From", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, conversations: Iterable[Session], data: Mapping[str, Any]) -> None:
        super().__init__(data, label_suffix="")
        self.conversations = {str(session.pk): session for session in conversations}
        listed = [(key, str(session)) for key, session in self.conversations.items()]
        self.fields["session"].choices = [("", "All conversations"), *listed]  # type: ignore[attr-defined]
        self.fields["session"].error_messages["invalid_choice"] = "This conversation is not there."

    @property
    def filters(self) -> list[forms.BoundField]:
        return [self["session"], self["since"], self["until"]]

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or {}
        since, until = chosen.get("since"), chosen.get("until")
        if since and until and since > until:
            self.add_error("until", "This day lies before the first one.")
        return chosen

    def chosen(self) -> Filters:
        given = self.cleaned_data
        until = given["until"]
        return Filters(
            kinds=tuple(map(HitKind, given["kind"])) or tuple(HitKind),
            session=self.conversations.get(given["session"]),
            since=midnight(given["since"]) if given["since"] else None,
            # That whole day.
            until=midnight(until + timedelta(days=1)) if until else None,
        )


def midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))


class WhatIfForm(forms.Form):
    """Settings to try; valid means that a plan can be made, or that it can be said why not."""

    budget = forms.IntegerField(
        label="Prompt budget, tokens",
        min_value=SMALLEST_BUDGET,
        max_value=LARGEST_BUDGET,
        help_text="Of this trial only.",
    )
    ambient_window = forms.IntegerField(label="Window, turns", min_value=0, max_value=LARGEST_WINDOW)
    expanded = forms.MultipleChoiceField()
    text = forms.CharField(
        label="Next message",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"class": "input", "rows": 3, "dir": "auto"}),
    )

    def __init__(
        self, session: Session, concluded: Iterable[EffortView], data: Mapping[str, Any] | None = None
    ) -> None:
        concluded = list(concluded)
        opened = [effort.slug for effort in concluded if effort.standing == Standing.EXPANDED]
        initial = {"budget": session.budget, "ambient_window": session.ambient_window, "expanded": opened}
        super().__init__(data, initial=initial)
        choices = [(effort.slug, f"{effort.name}, {effort.tokens:,} tokens") for effort in concluded]
        self.fields["expanded"] = forms.MultipleChoiceField(
            label="Expanded", required=False, choices=choices, widget=forms.CheckboxSelectMultiple
        )


class DeleteForm(forms.Form):
    typed_name = forms.CharField(
        label="Name",
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto", "autofocus": True}),
    )


class SessionSettingsForm(forms.Form):
    endpoint = forms.ChoiceField(label="Who answers")
    model = forms.CharField(
        label="Model name",
        required=False,
        max_length=200,
        help_text="Only where the connection has several; empty: its own.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    budget = forms.IntegerField(
        label="Prompt budget, tokens", help_text=f"From {SMALLEST_BUDGET:,}; no prompt is ever larger."
    )
    ambient_window = forms.IntegerField(
        label="Window, turns", min_value=0, help_text="How many turns outside any effort stay in the prompt."
    )
    decay_threshold = forms.IntegerField(
        label="Expansions fade after, turns",
        min_value=1,
        help_text="Turns that do not refer to an expanded effort, until its summary stands again.",
    )
    eviction_threshold = forms.IntegerField(
        label="Summaries leave after, turns",
        min_value=1,
        help_text="Turns that do not refer to a concluded effort, until it is found by search only.",
    )
    prefer_cache = forms.BooleanField(
        label="Prefer the cache",
        required=False,
        help_text="Summaries leave with the next change of effort, and turns leave a full window in blocks, 10 down to "
        "6: prompts keep their beginning, so that replies begin sooner and cost less. The model sees a few turns less.",
    )
    context_mode = forms.ChoiceField(
        label="Context mode",
        choices=[(mode.value, f"{mode.label}: {mode.meaning}") for mode in ContextMode],
        help_text="What a message points at and its prompt does not show is looked for, and quoted beside it.",
    )
    review_mode = forms.ChoiceField(
        label="Summaries",
        choices=[(mode.value, mode.meaning) for mode in ReviewMode],
        help_text="Drafts are checked against what was said. Until a summary stands, the whole log is in the prompt.",
    )
    quiet_notices = forms.BooleanField(label="Fold the notes between the turns", required=False)

    def __init__(self, session: Session, data: Mapping[str, Any] | None = None) -> None:
        self.options = {option.value: option for option in available_models(session.owner)}
        initial = {
            "endpoint": chosen_value(session),
            # The engine is an option of the list above, and no name that one types.
            "model": "" if session.model == BUILTIN_MODEL else session.model,
            "budget": session.budget,
            "ambient_window": session.ambient_window,
            "decay_threshold": session.decay_threshold,
            "eviction_threshold": session.eviction_threshold,
            "prefer_cache": session.prefer_cache,
            "context_mode": session.context_mode,
            "review_mode": session.review_mode,
            "quiet_notices": session.quiet_notices,
        }
        super().__init__(data, initial=initial)
        self.fields["endpoint"] = forms.ChoiceField(
            label="Who answers", choices=[(option.value, option.label) for option in self.options.values()]
        )

    def chosen(self) -> dict[str, Any]:
        option = self.options[self.cleaned_data["endpoint"]]
        typed = self.cleaned_data["model"] if option.model != BUILTIN_MODEL else ""
        return {
            "endpoint": option.endpoint,
            "model": typed or option.model,
            "budget": self.cleaned_data["budget"],
            "ambient_window": self.cleaned_data["ambient_window"],
            "decay_threshold": self.cleaned_data["decay_threshold"],
            "eviction_threshold": self.cleaned_data["eviction_threshold"],
            "prefer_cache": self.cleaned_data["prefer_cache"],
            "context_mode": self.cleaned_data["context_mode"],
            "review_mode": self.cleaned_data["review_mode"],
            "quiet_notices": self.cleaned_data["quiet_notices"],
        }


class EndpointForm(ModelFormOfEndpoint):
    base_url = forms.URLField(
        label="Address",
        max_length=300,
        # What people type without a scheme is most often a server on their own machine.
        assume_scheme="http",
        validators=[URLValidator(schemes=["http", "https"])],
        help_text="It often ends in /v1.",
        widget=forms.URLInput(attrs={"placeholder": "http://127.0.0.1:8080/v1"}),
    )
    timeout_seconds = forms.IntegerField(
        label="Patience, seconds",
        min_value=1,
        max_value=3600,
        help_text="How long to wait for the next piece of a reply.",
    )
    draft_seconds = forms.IntegerField(
        label="Patience for summaries, seconds",
        required=False,
        min_value=1,
        max_value=3600,
        help_text="How long one request to draft or check may take; then excerpts stand instead. Empty: 90.",
    )
    key = forms.CharField(
        label="Key",
        required=False,
        strip=True,
        max_length=2000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    forget_key = forms.BooleanField(label="Forget the stored key", required=False)

    class Meta:
        model = Endpoint
        fields = [
            "name",
            "base_url",
            "model",
            "context_window",
            "timeout_seconds",
            "draft_model",
            "draft_seconds",
            "is_default",
        ]
        labels = {
            "model": "Model",
            "context_window": "Window, tokens",
            "draft_model": "Model for summaries",
            "is_default": "New conversations use it",
        }
        help_texts = {
            "model": "As the provider calls it.",
            "context_window": "What the model reads at most. Empty: not known.",
            "draft_model": "For example a cheaper one. Empty: the model itself.",
            "is_default": "",
        }
        widgets = {
            "name": forms.TextInput(attrs={"autocomplete": "off"}),
            "model": forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = bool(self.instance.key_encrypted)
        self.fields["key"].help_text = (
            "A key is stored and never shown. Type a new one to replace it."
            if stored
            else "Stored encrypted and never shown again. Empty: none."
        )

    def clean_draft_seconds(self) -> int:
        return self.cleaned_data["draft_seconds"] or DRAFT_SECONDS

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        # Checked by hand: the owner is no field of the form, so Django leaves the constraint to the database.
        twins = Endpoint.objects.filter(owner_id=self.instance.owner_id, name=name).exclude(pk=self.instance.pk)
        if twins.exists():
            raise forms.ValidationError("Another model of yours has this name.")
        return name

    def save(self, commit: bool = True) -> Endpoint:
        endpoint = self.instance
        if key := self.cleaned_data["key"]:
            endpoint.key_encrypted = encrypt_key(key)
        elif self.cleaned_data["forget_key"]:
            endpoint.key_encrypted = ""
        kind = "endpoint.changed" if endpoint.pk else "endpoint.added"
        with transaction.atomic():
            # Before saving: the database allows each person one default.
            if endpoint.is_default:
                Endpoint.objects.filter(owner_id=endpoint.owner_id).exclude(pk=endpoint.pk).update(is_default=False)
            endpoint.save()
            events.account(endpoint.owner, kind, {"name": endpoint.name, "base_url": endpoint.base_url})
        return endpoint
