"""What a knowledge entry *is*: k = (type, c, u, phi, rho, E), eq. 4, as structure. Text for a prompt is
rendered from it, never stored.

A trigger is a conjunction of predicates over declared state fields, steps and repairs are subgoals in the
executor's grammar, checks are the domain's check types: whether an entry matches a state, and whether it can
be carried out, is decided and not guessed. Lists are kept in a canonical order, so that two entries that say
the same have the same id.
"""

from typing import Annotated, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from warehouse.ids import canonical_bytes, derive_id

Op = Literal["eq", "ne", "lt", "le", "gt", "ge", "in"]
Scalar = bool | int | float | str
# Up to here a number is the same in JSON, in a float and in a column of the store.
_Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]
_Real = Annotated[float, Field(allow_inf_nan=False)]
_Text = Annotated[str, Field(max_length=400)]
_Value = bool | _Whole | _Real | _Text
_Count = Annotated[int, Field(ge=-(2**31), lt=2**31)]
KnowledgeType = Literal["skill", "remedy"]
Scope = Literal["subgoal_local", "unfinished_plan_suffix", "task_global"]
Category = Literal["generic", "missing_prerequisite", "deadlock_pattern", "recovery_strategy"]
Name = Annotated[str, Field(min_length=1, max_length=120)]
R = TypeVar("R", bound="Record")
FeedbackId = Annotated[str, Field(pattern=r"^[0-9a-f]{20}$")]


class Record(BaseModel):
    """Base of the stored records: frozen, closed to unknown fields, strict about types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Predicate(Record):
    """`field op value` over a state field that the domain declares; `in` takes a list of values.

    A field whose value is unknown (null) satisfies no predicate.
    """

    field: Name
    op: Op
    value: _Value | tuple[_Value, ...]


def exactly(predicate: Predicate) -> tuple[str, Op, Scalar | tuple[Scalar, ...], object]:
    """What tells a predicate from every other, to remember by what was worked out of it: field, operator,
    value and the value's types. True == 1 and 3 == 3.0 in Python, and do not say the same everywhere."""
    value = predicate.value
    kinds = tuple(map(type, value)) if isinstance(value, tuple) else type(value)
    return predicate.field, predicate.op, value, kinds


class Check(Record):
    """A verification in the domain's check types, such as inv_ge(oak_log, 3)."""

    type: Name
    name: _Text | None = None
    value: _Real | None = None


class Step(Record):
    """A subgoal in the executor's grammar: what to do (`kind`), to what (`target`), how often or how many."""

    kind: Name
    target: _Text | None = None
    count: Annotated[int, Field(ge=1, le=2304)] = 1
    checks: tuple[Check, ...] = ()


class Amount(Record):
    """So many of something; negative where it is used up."""

    name: Name
    count: _Count


class SkillContent(Record):
    """A verified way to reach `kind target`: preconditions, steps, the effects that were observed."""

    kind: Name
    target: _Text | None
    count: Annotated[int, Field(ge=1, lt=2**31)] = 1
    preconditions: tuple[Predicate, ...] = ()
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=12)]
    effects: tuple[Amount, ...] = ()
    applicability: tuple[Predicate, ...] = ()
    scope: Scope = "subgoal_local"
    category: Category = "generic"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        return _sort_fields(self, ("preconditions", "effects", "applicability"))


class Risk(Record):
    """What goes wrong: which action on which target fails in which way, and for want of what."""

    kind: _Text | None
    target: _Text | None
    failure_type: Name
    missing: tuple[_Text, ...] = ()
    note: Annotated[str, Field(max_length=240)] = ""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        return _sort_fields(self, ("missing",))


class RemedyContent(Record):
    """A risk pattern and the repair that removes its cause; the repair's order is its meaning."""

    risk: Risk
    repair: Annotated[tuple[Step, ...], Field(min_length=1, max_length=12)]
    applicability: tuple[Predicate, ...] = ()
    scope: Scope = "unfinished_plan_suffix"
    category: Category = "generic"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        return _sort_fields(self, ("applicability",))


class Ids(NamedTuple):
    """What a candidate goes by: the id of the entry that it proposes, and its own."""

    entry: str
    candidate: str


class Candidate(Record):
    """A knowledge entry as somebody proposed it, before Curator has seen it.

    `support` cites the feedback that it was drawn from. Where it came from (`build`, `request_id`,
    `engine`) is not part of its entry's id.
    """

    domain: Name
    type: KnowledgeType
    trigger: Annotated[tuple[Predicate, ...], Field(min_length=1, max_length=16)]
    content: SkillContent | RemedyContent
    verification: tuple[Check, ...] = ()
    support: tuple[FeedbackId, ...] = ()
    build: Name
    request_id: str = ""
    engine: str = ""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.type != ("skill" if isinstance(self.content, SkillContent) else "remedy"):
            raise ValueError(f"a {self.type} cannot have a {type(self.content).__name__}")
        return _sort_fields(self, ("trigger", "verification", "support"))

    @property
    def entry_id(self) -> str:
        """The id of the entry that this candidate proposes: (domain, type, trigger, content)."""
        return entry_id(self.domain, self.type, self.trigger, self.content)

    @property
    def candidate_id(self) -> str:
        """The id of this proposal: the entry with its verification, its support and its build."""
        return self.ids.candidate

    @property
    def ids(self) -> "Ids":
        """Both ids. To derive them takes a while, and the second takes the first: ask once."""
        entry = self.entry_id
        proposal = [entry, self.verification, self.support, self.build, self.request_id]
        return Ids(entry, derive_id("candidate", proposal))


def entry_id(
    domain: str, kind: str, trigger: tuple[Predicate, ...], content: SkillContent | RemedyContent
) -> str:
    """The id of a knowledge entry, from its defining content alone (counts and confidence are versioned)."""
    return derive_id("knowledge", [domain, kind, trigger, content])


def _sort_fields(record: R, names: tuple[str, ...]) -> R:
    for name in names:
        values = getattr(record, name)
        unique = {canonical_bytes(value): value for value in values}
        object.__setattr__(record, name, tuple(unique[key] for key in sorted(unique)))
    return record
