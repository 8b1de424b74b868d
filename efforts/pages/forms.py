"""Forms of the pages: what a person may type, checked before an action sees it."""

from __future__ import annotations

import re
from datetime import timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django import forms
from django.core.validators import URLValidator
from django.db import transaction

from efforts.actions.constraints import LONGEST_RULE
from efforts.actions.conversations import (
    HOTTEST,
    LARGEST_BUDGET,
    LARGEST_REPLY,
    LARGEST_WINDOW,
    SETTINGS,
    SMALLEST_REPLY,
)
from efforts.actions.ledger import LONGEST_ENTRY
from efforts.context.connections import (
    KeyUnreadable,
    allowed_hosts,
    available_models,
    chosen_value,
    decrypt_key,
    encrypt_key,
    may_add_models,
)
from efforts.context.efforts import EffortView, Standing
from efforts.context.ledger import LedgerView
from efforts.context.planning import budget_of, chosen_settings
from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import ReviewMode
from efforts.domain.hosts import fault_of
from efforts.domain.prompt.budget import SMALLEST_BUDGET
from efforts.llm.builtin.transport import BUILTIN_MODEL
from efforts.llm.reach import not_allowed
from efforts.log import events
from efforts.models import Endpoint, Session
from efforts.models.endpoint import DRAFT_SECONDS
from efforts.models.said import OwnWords, said
from efforts.pages.presenters.meanings import state_of_meanings
from efforts.pages.presenters.owner_search import Filters, HitKind
from efforts.pages.presenters.search import LOOKS
from efforts.retrieval.candidates import midnight

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    ModelFormOfEndpoint = forms.ModelForm[Endpoint]
else:
    ModelFormOfEndpoint = forms.ModelForm


class RenameForm(forms.Form):
    title = forms.CharField(
        label="Title", max_length=200, widget=forms.TextInput(attrs={"dir": "auto", "autofocus": True})
    )
    folder = forms.CharField(
        label="Folder",
        required=False,
        max_length=60,
        help_text="Optional. A new name makes a new folder.",
        widget=forms.TextInput(attrs={"dir": "auto", "list": "folder-names", "autocomplete": "off"}),
    )


def name_field(max_length: int) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off", "dir": "auto", "autofocus": True})
    return forms.CharField(label="Name", max_length=max_length, widget=widget)


def sentence_field(label: str, max_length: int) -> forms.CharField:
    widget = forms.Textarea(attrs={"class": "input", "rows": 4, "dir": "auto", "autofocus": True})
    return forms.CharField(label=label, max_length=max_length, widget=widget)


class EffortForm(forms.Form):
    name = name_field(200)


class BranchForm(forms.Form):
    name = name_field(100)


class RuleForm(forms.Form):
    text = sentence_field("Rule", LONGEST_RULE)


class EntryForm(forms.Form):
    """Text for the ledger; `replaces` is among the decisions that are kept."""

    text = sentence_field("Text", LONGEST_ENTRY)
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
    effort = forms.CharField(
        label="Effort",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"list": "known-efforts", "autocomplete": "off", "dir": "auto"}),
    )
    speaker = forms.ChoiceField(
        label="Said by", required=False, choices=[("", "Anyone"), ("user", "You"), ("assistant", "The model")]
    )
    since = forms.DateField(label="From", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, conversations: Iterable[Session], data: Mapping[str, Any]) -> None:
        super().__init__(data, label_suffix="")
        self.conversations = {str(session.pk): session for session in conversations}
        listed = [(key, OwnWords(session)) for key, session in self.conversations.items()]
        self.fields["session"].choices = [("", "All conversations"), *listed]  # type: ignore[attr-defined]
        self.fields["session"].error_messages["invalid_choice"] = "This conversation is not there."
        self.fields["effort"].widget.attrs["placeholder"] = said("Any")

    @property
    def filters(self) -> list[forms.BoundField]:
        return [self["session"], self["effort"], self["speaker"], self["since"], self["until"]]

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or {}
        since, until = chosen.get("since"), chosen.get("until")
        if since and until and since > until:
            self.add_error("until", "The end date is before the start date.")
        return chosen

    def chosen(self) -> Filters:
        given = self.cleaned_data
        until = given["until"]
        return Filters(
            kinds=tuple(map(HitKind, given["kind"])) or tuple(HitKind),
            session=self.conversations.get(given["session"]),
            effort=given["effort"],
            speaker=given["speaker"],
            since=midnight(given["since"]) if given["since"] else None,
            # That whole day.
            until=midnight(until + timedelta(days=1)) if until else None,
        )


class WhatIfForm(forms.Form):
    """Settings to try; valid means that a plan can be made, or that it can be said why not."""

    budget = forms.IntegerField(
        label="Prompt budget (tokens)",
        min_value=SMALLEST_BUDGET,
        max_value=LARGEST_BUDGET,
        help_text="Only for this trial.",
    )
    ambient_window = forms.IntegerField(label="Window (turns)", min_value=0, max_value=LARGEST_WINDOW)
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


def context_modes() -> list[tuple[str, str]]:
    return [(mode.value, f"{said(mode.label)}: {said(mode.meaning)}") for mode in ContextMode]


class SessionSettingsForm(forms.Form):
    """Its fields are named as the columns of a conversation."""

    endpoint = forms.ChoiceField(label="Model")
    model = forms.CharField(
        label="Model name",
        required=False,
        max_length=200,
        help_text="Leave empty to use the connection's model.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    budget = forms.IntegerField(
        label="Prompt budget (tokens)", help_text=f"At least {SMALLEST_BUDGET:,}. Prompts never exceed it."
    )
    ambient_window = forms.IntegerField(
        label="Window (turns)", min_value=0, help_text="How many turns outside any effort stay in the prompt."
    )
    decay_threshold = forms.IntegerField(
        label="Collapse after (turns)",
        min_value=1,
        help_text="An expanded effort collapses after this many turns without a mention.",
    )
    eviction_threshold = forms.IntegerField(
        label="Drop summaries after (turns)",
        min_value=1,
        help_text=(
            "The summary of a concluded effort drops out after this many turns without a mention. Search still finds "
            "it."
        ),
    )
    prefer_cache = forms.BooleanField(
        label="Prefer the cache",
        required=False,
        help_text=(
            "Drop summaries and old turns in batches, so that the provider's prompt cache keeps working. Replies start "
            "sooner and cost less; the model sees a few turns fewer."
        ),
    )
    context_mode = forms.ChoiceField(
        label="Context mode",
        choices=context_modes,
        help_text="Finds earlier passages that a message refers to, and adds them to the prompt.",
    )
    by_meaning = forms.BooleanField(
        label="Find by meaning too",
        required=False,
        help_text=(
            "Messages and attached code are also sent to the model that compares meanings. They are then found when "
            "you ask in other words."
        ),
    )
    review_mode = forms.ChoiceField(
        label="Summaries",
        choices=[(mode.value, mode.meaning) for mode in ReviewMode],
        help_text=(
            "Drafts are checked against what was said. Until a summary or excerpts are used, the whole log is in the "
            "prompt."
        ),
    )
    reply_limit = forms.IntegerField(
        label="Reply limit (tokens)",
        required=False,
        min_value=SMALLEST_REPLY,
        max_value=LARGEST_REPLY,
        help_text=(
            "A reply that reaches it is cut off, and you can continue it. If empty, the model's own limit applies."
        ),
    )
    temperature = forms.FloatField(
        label="Temperature",
        required=False,
        min_value=0,
        max_value=HOTTEST,
        help_text="0 is the most predictable, 2 the least. If empty, the model's own applies.",
        widget=forms.NumberInput(attrs={"step": "0.1"}),
    )
    quiet_notices = forms.BooleanField(label="Collapse the notes between turns", required=False)

    def __init__(self, session: Session, data: Mapping[str, Any] | None = None) -> None:
        self.options = {option.value: option for option in available_models(session.owner)}
        initial = {name: getattr(session, name) for name in SETTINGS}
        # The engine is an option of the list above, and no name that one types.
        typed = "" if session.model == BUILTIN_MODEL else session.model
        initial |= {"endpoint": chosen_value(session), "model": typed}
        super().__init__(data, initial=initial)
        self.meanings = state_of_meanings(session)
        # What the model's window leaves for a prompt, where that is less than the budget.
        self.answers, self.leaves = window_of(session)
        self.fields["endpoint"] = forms.ChoiceField(
            label="Model", choices=[(option.value, option.label) for option in self.options.values()]
        )

    def chosen(self) -> dict[str, Any]:
        option = self.options[self.cleaned_data["endpoint"]]
        typed = self.cleaned_data["model"] if option.model != BUILTIN_MODEL else ""
        if "endpoint" in self.changed_data and "model" not in self.changed_data:
            # It was typed for the connection that is left.
            typed = ""
        return {**self.cleaned_data, "endpoint": option.endpoint, "model": typed or option.model}


def window_of(session: Session) -> tuple[str, int | None]:
    """The name of the model that answers, and the tokens that its window leaves, where these are fewer than the
    budget."""
    try:
        chosen = chosen_settings(session)
    except KeyUnreadable:
        return "", None
    largest = budget_of(chosen).largest_setting
    return chosen["label"], None if largest is None or largest >= session.budget else max(largest, 0)


def price_field(label: str, help_text: str) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=0,
        max_value=1_000_000,
        max_digits=12,
        decimal_places=6,
        help_text=help_text,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )


LOCAL_NAMES = {"localhost": "127.0.0.1"}


class AddressField(forms.URLField):
    """What people type without a scheme is most often a server on their own machine: localhost:8080, which reads as if
    "localhost" were one."""

    def __init__(self, **more: Any) -> None:
        super().__init__(assume_scheme="http", **more)
        others = [one for one in self.validators if not isinstance(one, URLValidator)]
        self.validators = [*others, URLValidator(schemes=["http", "https"])]

    def to_python(self, value: Any) -> str:
        typed = str(value or "").strip()
        return super().to_python(f"http://{typed}" if WITHOUT_SCHEME.match(typed) else typed) or ""


# A host with its port.
WITHOUT_SCHEME = re.compile(r"[\w.-]+:\d")


class EndpointForm(ModelFormOfEndpoint):
    base_url = AddressField(
        label="Address",
        max_length=300,
        help_text="It usually ends in /v1.",
        widget=forms.URLInput(attrs={"placeholder": "http://127.0.0.1:8080/v1"}),
    )
    timeout_seconds = forms.IntegerField(
        label="Timeout (seconds)",
        min_value=1,
        max_value=3600,
        help_text="How long to wait for the next piece of a reply.",
    )
    draft_seconds = forms.IntegerField(
        label="Timeout for summaries (seconds)",
        required=False,
        min_value=1,
        max_value=3600,
        help_text="How long one request to draft or check may take; then excerpts are used instead. Default: 90.",
    )
    reply_limit = forms.IntegerField(
        label="Reply limit (tokens)",
        required=False,
        min_value=SMALLEST_REPLY,
        max_value=LARGEST_REPLY,
        help_text="Optional. If empty, the model's own limit applies.",
    )
    price_prompt = price_field("Price of input, per million tokens", "Optional. With both prices, pages tell the cost.")
    price_completion = price_field("Price of output, per million tokens", "Optional.")
    price_cached = price_field(
        "Price of cached input, per million tokens", "Optional. Leave empty if it costs the same."
    )
    currency = forms.RegexField(
        r"^[A-Za-z]{3}$",
        label="Currency",
        required=False,
        help_text="Three letters, such as USD or EUR.",
        error_messages={"invalid": "Give the three letters of a currency, such as USD."},
    )
    key = forms.CharField(
        label="Key",
        required=False,
        strip=True,
        max_length=2000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    # A key that was typed and is not saved yet, encrypted: a page that shows an error gives it back, and not in clear.
    kept_key = forms.CharField(required=False, widget=forms.HiddenInput)
    forget_key = forms.BooleanField(label="Forget the stored key", required=False)

    class Meta:
        model = Endpoint
        fields = [
            "name",
            "base_url",
            "model",
            "context_window",
            "reply_limit",
            "timeout_seconds",
            "draft_model",
            "embedding_model",
            "draft_seconds",
            "price_prompt",
            "price_completion",
            "price_cached",
            "currency",
            "sees_pictures",
            "writes_titles",
            "is_default",
        ]
        labels = {
            "model": "Model",
            "context_window": "Context window (tokens)",
            "draft_model": "Model for summaries",
            "embedding_model": "Embedding model",
            "sees_pictures": "This model sees pictures",
            "writes_titles": "Titles by this model",
            "is_default": "Default for new conversations",
        }
        help_texts = {
            "model": "Model ID, for example gpt-4o. Leave empty to choose from what the server offers.",
            "context_window": "Optional. It is filled in if the server reports it.",
            "draft_model": "Optional. For example a cheaper one.",
            "embedding_model": (
                "Optional. An embedding model at this address, such as text-embedding-3-small. Search then finds what "
                "was said in other words too; everything you say is sent there once."
            ),
            "sees_pictures": "Pictures in your messages are sent to it. Otherwise it gets their names and sizes only.",
            "writes_titles": "After the first reply this model is asked once for a title. Titles that you choose stay.",
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
            else "Optional. Stored encrypted and never shown again."
        )

    def clean(self) -> None:
        super().clean()
        if not may_add_models(self.instance.owner):
            raise forms.ValidationError("On this installation only staff connect models of their own.")

    def clean_base_url(self) -> str:
        address: str = self.cleaned_data["base_url"]
        if fault := fault_of(address) or self._not_allowed(address):
            raise forms.ValidationError(fault)
        return address

    def _not_allowed(self, address: str) -> str:
        """Said at once where nothing has to be looked up; a name is checked whenever it is connected to."""
        parts = urlsplit(address)
        host = parts.hostname or ""
        try:
            addresses = [str(ip_address(LOCAL_NAMES.get(host, host)))]
        except ValueError:
            return ""
        allowed = allowed_hosts(self.instance).allow(host, parts.port or 0, addresses)
        return "" if allowed else not_allowed(host).text

    def keep_key(self) -> None:
        """For the page that is shown again."""
        if key := self.data.get("key"):
            self.data = {**{name: self.data[name] for name in self.data}, "kept_key": encrypt_key(key)}
            self["key"].help_text = "The key that you typed is kept. Type another to replace it."

    def clean_kept_key(self) -> str:
        kept: str = self.cleaned_data["kept_key"]
        try:
            decrypt_key(kept)
        except KeyUnreadable as error:
            raise forms.ValidationError(str(error)) from error
        return kept

    def clean_currency(self) -> str:
        return str(self.cleaned_data["currency"] or "USD").upper()

    def clean_draft_seconds(self) -> int:
        return self.cleaned_data["draft_seconds"] or DRAFT_SECONDS

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        # Checked by hand: the owner is no field of the form, so Django leaves the constraint to the database.
        twins = Endpoint.objects.filter(owner_id=self.instance.owner_id, name=name).exclude(pk=self.instance.pk)
        if twins.exists():
            raise forms.ValidationError("You already have a model with that name.")
        return name

    def candidate(self) -> Endpoint:
        """As the form has it, not saved. After `is_valid`, whatever that said of fields that are asked for later."""
        if key := self.cleaned_data.get("key"):
            self.instance.key_encrypted = encrypt_key(key)
        elif kept := self.cleaned_data.get("kept_key"):
            self.instance.key_encrypted = kept
        elif self.cleaned_data.get("forget_key"):
            self.instance.key_encrypted = ""
        return self.instance

    def save(self, commit: bool = True) -> Endpoint:
        endpoint = self.candidate()
        kind = "endpoint.changed" if endpoint.pk else "endpoint.added"
        with transaction.atomic():
            # Before saving: the database allows each person one default.
            if endpoint.is_default:
                Endpoint.objects.filter(owner_id=endpoint.owner_id).exclude(pk=endpoint.pk).update(is_default=False)
            endpoint.save()
            events.account(endpoint.owner, kind, {"name": endpoint.name, "base_url": endpoint.base_url})
        return endpoint
