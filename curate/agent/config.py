"""Settings of an agent's episodes: tools, limits, and what follows from an exploit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from pydantic import Field, field_validator

from curate.config import RUNTIME, Config
from curate.tables import AS_TEXT, short
from curate.verify.repo.box import BoxLimits

Tool = Literal["bash", "edit", "view", "submit", "python"]


class AgentConfig(BoxLimits):
    """Tools and limits of an episode."""

    panel: ClassVar[str] = "Agent"

    tools: tuple[Tool, ...] = Field(
        ("bash", "edit", "view", "submit"),
        description="tools that the model is offered; with python, problems of other kinds are solved with it too",
    )
    max_turns: int = Field(30, ge=1, description="replies of the model in an episode")
    turn_tokens: int | None = Field(None, ge=1, description="tokens of one reply; by default what is left")
    malformed_calls: int = Field(3, ge=1, description="malformed calls, one after another, that end an episode")
    exploit: Literal["wrong", "drop", "log"] = Field(
        "wrong", description="what follows where the grader sees an exploit: wrong, drop (undecided), or only a note"
    )
    boxes: int = Field(32, ge=1, description="boxes that are open at once", json_schema_extra=RUNTIME)

    @field_validator("tools")
    @classmethod
    def _are_some(cls, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        if len(set(tools)) < len(tools) or not tools:
            raise ValueError("name each tool once, and at least one")
        return tools

    @property
    def is_for_all(self) -> bool:
        """Whether problems of other kinds than agent are played too."""
        return "python" in self.tools


DEFAULT: Final = AgentConfig()


class AgentOptions(Config):
    """Options of every command in which agents work on tasks."""

    panel: ClassVar[str] = "Agent"

    tasks: Path | None = Field(
        None, description="Folder of the tasks of agents, as it was ingested.", json_schema_extra=RUNTIME
    )
    agent: AgentConfig = Field(
        DEFAULT,
        description="Tools and limits of agents, as YAML: '{max_turns: 30, command_s: 60}'.",
        json_schema_extra=AS_TEXT | short("exploit"),
    )

    def fingerprinted(self) -> dict[str, Any]:
        """As every config; agents' settings of default value are left out, as results of other kinds lack them."""
        fields = super().fingerprinted()
        if self.agent == DEFAULT:
            fields.pop("agent", None)
        return fields

    def agent_identity(self) -> dict[str, str]:
        """What decides an episode beside the model, for samples that are used again."""
        fields = self.agent.fingerprinted()
        return {} if self.agent == DEFAULT else {"agent": repr(sorted(fields.items()))}
