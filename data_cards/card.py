"""The dataset card: README.md by `huggingface_hub.DatasetCard` from `templates/card.md.j2`.

The YAML head tells the Hub and `datasets` what is where; the text says what a reader needs a year later: sources,
funnel, difficulty and whom it holds for, decontamination, limits, how to rebuild and to cite.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import polars as pl
import yaml
from huggingface_hub import DatasetCard, DatasetCardData

from curate.artifact import scan_part
from curate.manifest import Manifest
from data_cards import facts
from data_cards.card_config import CardConfig
from data_cards.parts import describe_columns

TEMPLATE: Final = Path(__file__).parent / "templates" / "card.md.j2"
CONFIGS: Final = {"default": "kept", "dropped": "dropped", "samples": "samples"}
MAX_CELL: Final = 200


def render(config: CardConfig, stages: Sequence[Manifest], dataset: Path, digest: str) -> str:
    """The text of README.md for a dataset whose tables lie in `dataset`."""
    num_rows = {name: count_rows(dataset, part) for name, part in CONFIGS.items()}
    sources = facts.sources(stages, dataset)
    card = DatasetCard.from_template(
        _metadata(config, sources, dataset, num_rows),
        template_path=str(TEMPLATE),
        title=_inline(config.name),
        description=config.description,
        address=config.repo or "path/to/this/folder",
        num_in=stages[0].num_in,
        num_kept=num_rows["default"],
        num_dropped=num_rows["dropped"],
        num_samples=num_rows["samples"],
        sources=[{**vars(source), **_cells(source)} for source in sources],
        stages=[_stage_row(stage) for stage in stages],
        model=_inline(facts.model_name(stages)),
        difficulty_settings=_settings(facts.find_stage(stages, "difficulty")),
        decontamination=_settings(facts.find_stage(stages, "decontaminate")),
        hits=[(_inline(name), number) for name, number in facts.contamination_hits(dataset).items()],
        columns=_columns(dataset),
        limits=_limits(stages, sources),
        command="gradus curate run pipeline.yaml --out RUN",
        gradus_version=version("gradus-rlvr"),
        pipeline=pipeline_yaml(stages),
        digest=digest,
        citation=_citation(config, digest),
    )
    return str(card).rstrip("\n") + "\n"


def count_rows(dataset: Path, part: str) -> int:
    """Rows of a part; 0 where the dataset has no such part."""
    return int(scan_part(dataset, part).select(pl.len()).collect().item()) if (dataset / part).is_dir() else 0


def configs(num_rows: dict[str, int]) -> list[dict[str, Any]]:
    """The card's `configs`: a part without rows gets none, since load_dataset refuses an empty one."""
    return [
        {
            "config_name": name,
            "data_files": [{"split": "train", "path": f"{part}/*.parquet"}],
            **({"default": True} if name == "default" else {}),
        }
        for name, part in CONFIGS.items()
        if num_rows[name]
    ]


def pipeline_yaml(stages: Sequence[Manifest]) -> str:
    """The stages' configs as the pipeline file that makes them again."""
    return yaml.safe_dump({stage.stage: stage.config for stage in stages}, sort_keys=False, allow_unicode=True).rstrip()


def _metadata(
    config: CardConfig, sources: Sequence[facts.Source], dataset: Path, num_rows: dict[str, int]
) -> DatasetCardData:
    licences = facts.licence_ids([config.licence] if config.licence else [source.licence for source in sources])
    return DatasetCardData(
        pretty_name=config.name,
        language=list(config.language) or facts.languages(scan_part(dataset, "kept")),
        license=licences if len(licences) > 1 else licences[0],
        size_categories=[facts.size_category(num_rows["default"])],
        task_categories=["text-generation"],
        annotations_creators=["machine-generated"],
        source_datasets=["extended"],
        tags=sorted({"rlvr", "reinforcement-learning", "gradus", *config.tags}),
        configs=configs(num_rows),
    )


def _stage_row(stage: Manifest) -> dict[str, Any]:
    reasons = sorted(stage.reasons.items(), key=lambda item: (-item[1], item[0]))
    return {
        "name": stage.stage,
        "num_in": stage.num_in,
        "num_dropped": stage.num_dropped,
        "num_kept": stage.num_kept,
        "reasons": ", ".join(f"`{_inline(name)}` {number:,}" for name, number in reasons),
    }


def _settings(stage: Manifest | None) -> str:
    """A stage's config and facts as a table."""
    if stage is None:
        return ""
    values = {**facts.flatten(stage.config), **facts.flatten(stage.facts)}
    rows = [f"| `{_inline(name)}` | {_inline(_plain(value))} |" for name, value in values.items()]
    return "\n".join([f"| {stage.stage} | |", "|---|---|", *rows])


def _columns(dataset: Path) -> list[tuple[str, str]]:
    parts = [part for part in CONFIGS.values() if (dataset / part).is_dir()]
    names = dict.fromkeys(name for part in parts for name in scan_part(dataset, part).collect_schema())
    return [(name, meaning) for name, meaning in describe_columns(list(names)).items()]


def _limits(stages: Sequence[Manifest], sources: Sequence[facts.Source]) -> list[str]:
    limits = []
    if model := facts.model_name(stages):
        limits.append(
            f"Difficulty was measured with {_inline(model)}; for another model the same problems have other pass rates."
        )
    if unstated := [source.name for source in sources if not source.licence]:
        limits.append(f"No licence is recorded for {_inline(', '.join(unstated))}: find it out before you publish.")
    limits.append("Decontamination finds what its method can see; a rephrased or translated benchmark item may remain.")
    limits.append("Ground truths are those of the sources; a stage can drop an answer it cannot check, not correct it.")
    return limits


def _citation(config: CardConfig, digest: str) -> str:
    fields = {
        "title": config.name,
        "author": config.authors,
        "version": digest[:12],
        "url": f"https://huggingface.co/datasets/{config.repo}" if config.repo else "",
        "note": "Curated with Gradus",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join(["@misc{" + f"gradus-{digest[:12]},", *lines, "}"])


def _cells(source: facts.Source) -> dict[str, str]:
    return {name: _inline(str(vars(source)[name])) for name in ("name", "licence", "revision")}


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _inline(text: str) -> str:
    """Text that cannot break a table or open a tag in Markdown."""
    line = " ".join(text.split())
    line = line if len(line) <= MAX_CELL else line[:MAX_CELL] + "…"
    for mark, safe in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "\\|"), ("`", "'")):
        line = line.replace(mark, safe)
    return line
