"""The dataset card: README.md by `huggingface_hub.DatasetCard` from `templates/card.md.j2`.

The YAML head lists the configs for the Hub and `datasets`; the text documents sources, funnel, difficulty with its
model, decontamination, limits, rebuilding and citation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import polars as pl
import yaml
from huggingface_hub import DatasetCard, DatasetCardData

from curate.artifacts.artifact import scan_part
from curate.artifacts.funnel import step_of
from curate.artifacts.manifest import Manifest
from data_cards.config import CardConfig
from data_cards.dataset import facts
from data_cards.dataset.parts import describe_columns

TEMPLATE: Final = Path(__file__).parent / "templates" / "card.md.j2"
CONFIGS: Final = {"default": "kept", "dropped": "dropped", "samples": "samples"}
MAX_CELL: Final = 200
NOT_SHOWN: Final = ("pool", facts.BENCHMARK_INPUT)  # inputs shown elsewhere in the card


def render(config: CardConfig, stages: Sequence[Manifest], dataset: Path, digest: str) -> str:
    """The text of README.md for the tables in the folder `dataset`."""
    num_rows = {name: count_rows(dataset, part) for name, part in CONFIGS.items()}
    sources = facts.sources(stages, dataset)
    card = DatasetCard.from_template(
        _metadata(config, sources, dataset, num_rows),
        template_path=str(TEMPLATE),
        title=_inline(config.name),
        description=config.description,
        address=config.repo or "path/to/this/folder",
        num_kept=num_rows["default"],
        num_dropped=num_rows["dropped"],
        num_samples=num_rows["samples"],
        sources=[{**vars(source), **_cells(source)} for source in sources],
        steps=[step_of(stage) for stage in stages],
        model=_inline(facts.model_name(stages)),
        difficulty=_described(facts.find_stage(stages, "difficulty")),
        decontamination=_described(facts.find_stage(stages, "decontaminate")),
        review=_described(facts.find_stage(stages, "reviewed")),
        benchmarks=[_benchmark_row(benchmark) for benchmark in facts.benchmarks(stages, dataset)],
        columns=_columns(dataset),
        limits=_limits(stages, sources),
        gradus_version=version("gradus-rlvr"),
        pipeline=pipeline_yaml(stages),
        digest=digest,
        citation=citation(config, digest),
    )
    return str(card).rstrip("\n") + "\n"


def count_rows(dataset: Path, part: str) -> int:
    """Number of rows of a part; 0 if the dataset lacks it."""
    return int(scan_part(dataset, part).select(pl.len()).collect().item()) if (dataset / part).is_dir() else 0


def rows_by_config(manifest: Manifest) -> dict[str, int]:
    """Number of rows of each config, from the manifest of a dataset."""
    return {
        name: sum(entry.num_rows for entry in manifest.files if entry.path.startswith(f"{part}/"))
        for name, part in CONFIGS.items()
    }


def licences(config: CardConfig, sources: Sequence[facts.Source]) -> list[str]:
    """The Hub's identifiers of the dataset's licences: the configured one, else those of the sources."""
    return facts.licence_ids([config.licence] if config.licence else [source.licence for source in sources])


def configs(num_rows: dict[str, int]) -> list[dict[str, Any]]:
    """The card's `configs`; a part without rows gets none, since load_dataset rejects an empty one."""
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
    """A pipeline file that rebuilds the stages' artifacts; it holds no path of this machine."""
    ingest = {name: value for name, value in stages[0].config.items() if name != "sources"}
    sources = [_source_table(source) for source in stages[0].config.get("sources", [])]
    tables = {stage.stage: _stage_table(stage) for stage in stages[1:]}
    file = {"sources": sources, "stages": {stages[0].stage: ingest, **tables}}
    return yaml.safe_dump(file, sort_keys=False, allow_unicode=True).rstrip()


def _source_table(source: dict[str, Any]) -> dict[str, Any]:
    place = {} if source.get("hub") else {"path": source["name"]}
    return {**place, **{name: value for name, value in source.items() if value not in (None, {})}}


def _stage_table(stage: Manifest) -> dict[str, Any]:
    """A stage's settings; facts and inputs give the names of models and benchmarks, whose digests decide."""
    model = {"model": stage.facts["model"]} if "model" in stage.facts else {}
    benchmarks = [benchmark.name for benchmark in facts.benchmarks([stage])]
    against = {"against": benchmarks} if benchmarks else {}
    return {**model, **against, **{name: value for name, value in stage.config.items() if value is not None}}


def _metadata(
    config: CardConfig, sources: Sequence[facts.Source], dataset: Path, num_rows: dict[str, int]
) -> DatasetCardData:
    ids = licences(config, sources)
    return DatasetCardData(
        pretty_name=config.name,
        language=list(config.language) or facts.languages(scan_part(dataset, "kept")),
        license=ids if len(ids) > 1 else ids[0],
        size_categories=[facts.size_category(num_rows["default"])],
        task_categories=["text-generation"],
        annotations_creators=["machine-generated"],
        source_datasets=["extended"],
        tags=sorted({"rlvr", "reinforcement-learning", "gradus", *config.tags}),
        configs=configs(num_rows),
    )


def _benchmark_row(benchmark: facts.Benchmark) -> dict[str, Any]:
    methods = ", ".join(f"{_inline(name)} {number:,}" for name, number in benchmark.methods.items())
    return {
        "name": _inline(benchmark.name),
        "content": _inline(_short(benchmark.content)),
        "num_dropped": benchmark.num_dropped,
        "methods": methods,
    }


def _described(stage: Manifest | None) -> dict[str, str] | None:
    """A stage as two Markdown tables: its inputs and results, and its settings."""
    if stage is None:
        return None
    inputs = {
        f"{name} digest" if _short(value) != value else name: _short(value)
        for name, value in stage.inputs.items()
        if not name.startswith(NOT_SHOWN)
    }
    return {
        "results": _table({**inputs, **facts.flatten(stage.facts)}),
        "settings": _table(facts.flatten(stage.config)),
    }


def _table(values: dict[str, Any]) -> str:
    rows = [f"| `{_inline(name)}` | {_inline(_plain(value))} |" for name, value in values.items() if value is not None]
    return "\n".join(["| | |", "|---|---|", *rows]) if rows else ""


def _columns(dataset: Path) -> list[tuple[str, str]]:
    parts = [part for part in CONFIGS.values() if (dataset / part).is_dir()]
    names = dict.fromkeys(name for part in parts for name in scan_part(dataset, part).collect_schema())
    return [(name, meaning) for name, meaning in describe_columns(list(names)).items()]


def _limits(stages: Sequence[Manifest], sources: Sequence[facts.Source]) -> list[str]:
    limits = ["Ground truths are those of the sources: a stage drops an answer that it cannot check, it corrects none."]
    if model := facts.model_name(stages):
        limits.append(f"Pass rates are those of {_inline(model)}; another model finds other problems hard.")
    if (stopped := facts.samples_spared(stages)) > 0:
        limits.append(
            f"Sampling stopped where a problem's fate was settled, sparing {stopped:.0%} of the samples: decisions are "
            "those of all samples, but a single pass rate is rough; see `num_samples` and the interval beside it."
        )
    if facts.find_stage(stages, "decontaminate"):
        limits.append("Decontamination finds what its method can see: a benchmark item told anew may remain.")
    if unstated := [source.name for source in sources if source.licence.lower() in facts.UNSTATED]:
        limits.append(f"No licence is recorded for {_inline(', '.join(unstated))}: find it out before you publish.")
    return limits


def citation(config: CardConfig, digest: str) -> str:
    """A BibTeX entry for the dataset."""
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
    return {name: _inline(str(vars(source)[name])) for name in ("name", "licence", "revision", "content")}


def _short(digest: str) -> str:
    """The first 16 digits of a SHA-256; other text unchanged."""
    return digest[:16] if re.fullmatch(r"[0-9a-f]{64}", digest) else digest


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _inline(text: str) -> str:
    """Text escaped for a Markdown table cell: one line, no tags, at most `MAX_CELL` characters."""
    line = " ".join(text.split())
    line = line if len(line) <= MAX_CELL else line[:MAX_CELL] + "…"
    for mark, safe in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "\\|"), ("`", "'")):
        line = line.replace(mark, safe)
    return line
