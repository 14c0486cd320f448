"""Recipes: every one resolves, every number cites its source, and a plan is checked before anything runs."""

import json
import re
from itertools import chain
from pathlib import Path

import pytest
from support.training.toy_runs import copying_problems, write_jsonl

from curate.errors import UserError
from curate.tables import dotted
from gradus import app
from train.grpo.config import GrpoConfig
from train.recipes.cost import Cost, cost_of
from train.recipes.plan import FOLDER, changes, cut, load_recipe, plan, recipe_names, switched_off
from train.tuning.sft import SftConfig

# the shape of Qwen3-4B by its config.json
QWEN3_4B = {
    "hidden_size": 2560, "intermediate_size": 9728, "num_hidden_layers": 36, "num_attention_heads": 32,
    "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "tie_word_embeddings": True,
}  # fmt: skip
NAMED = ("qwen3_coder_next", "r1_zero", "dr_grpo", "dapo", "kimi_k15", "qwen3", "qwen3_small", "r1")


def test_the_named_recipes_exist() -> None:
    assert set(NAMED) <= set(recipe_names())


@pytest.mark.parametrize("name", recipe_names())
def test_every_number_of_a_recipe_cites_its_source_or_is_marked_as_ours(name: str) -> None:
    lines = (FOLDER / f"{name}.yaml").read_text().splitlines()
    numbers = [line for line in lines if re.search(r": \[?[0-9]", line.partition("#")[0])]
    assert numbers
    for line in numbers:
        comment = line.partition("#")[2]
        assert re.search(r"\d{4}\.\d{4,5}|ours|as in|not mixed", comment), line


def rl_of(*without: str) -> GrpoConfig:
    (stage,) = plan(
        switched_off(load_recipe("dapo"), list(without)), {"start": "m"}, {"problems": Path("p")}, Path("out"), {}
    )
    assert isinstance(stage.config, GrpoConfig)
    return stage.config


def test_each_part_of_dapo_is_switched_off_alone() -> None:
    whole = dotted(rl_of().model_dump(mode="json"))
    changed = {
        name: {key for key, value in dotted(rl_of(name).model_dump(mode="json")).items() if value != whole.get(key)}
        for name in load_recipe("dapo").parts
    }
    assert changed == {
        "token_loss": {"objective", "trl.epsilon_high"},
        "clip_higher": {"trl.epsilon_high"},
        "dynamic_sampling": {"generation.refill_rounds"},
        "overlong": {"rewards.names", "rewards.weights"},
    }


def test_without_its_parts_dapo_is_grpo_as_the_paper_starts_from(tmp_path: Path) -> None:
    naked = rl_of(*load_recipe("dapo").parts)
    assert (naked.objective, naked.trl, naked.kl_coef) == ("grpo", {"epsilon_high": 0.2}, 0.0)
    assert naked.rewards.names == ("accuracy",)
    # in the recipe's order, whatever the order of the options
    assert rl_of("clip_higher", "token_loss") == rl_of("token_loss", "clip_higher")
    with pytest.raises(UserError, match="no part clip_high; did you mean clip_higher"):
        rl_of("clip_high")
    with pytest.raises(UserError, match="no part overlong; it has no parts"):
        switched_off(load_recipe("dr_grpo"), ["overlong"])


def test_a_dry_run_lists_the_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problems = copying_problems(tmp_path / "problems.jsonl")
    app(
        ["train", "recipe", "dapo", "--model", "org/model", "--data", str(problems), "--out", str(tmp_path / "out"),
         "--without", "dynamic_sampling", "--dry-run"],
        standalone_mode=False,
    )  # fmt: skip
    printed = capsys.readouterr().out
    assert "--without token_loss: no loss averaged" in printed
    assert "refill_rounds" not in printed


@pytest.mark.parametrize("name", recipe_names())
def test_a_dry_run_prints_every_stage_and_the_cost_and_writes_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = copying_problems(tmp_path / "problems.jsonl")
    app(
        ["train", "recipe", name, "--model", "org/model", "--data", str(problems), "--out", str(tmp_path / "out"),
         "--cold-start", str(problems), "--student", "org/small", "--dry-run"],
        standalone_mode=False,
    )  # fmt: skip
    printed = capsys.readouterr().out
    for step in load_recipe(name).stages:
        assert f"{step.name}: gradus" in printed
    assert "\ntotal  " in printed
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [name for name in recipe_names() if load_recipe(name).gpus])
def test_the_settings_for_a_machine_fit_it(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problems, model = copying_problems(tmp_path / "problems.jsonl"), tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(QWEN3_4B))
    words = ["--model", str(model), "--data", str(problems), "--out", str(tmp_path / "out"), "--dry-run"]
    app(["train", "recipe", name, *words], standalone_mode=False)
    printed = capsys.readouterr().out
    assert re.search(
        r"^rl: memory of a device, estimated: weights .* of 80\.0 GB; --micro-batch-size ", printed, re.MULTILINE
    )
    assert "warning" not in printed


def test_without_a_name_the_recipes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    app(["train", "recipe"], standalone_mode=False)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == recipe_names()
    with pytest.raises(UserError, match="recipe dapo: needs --model, --out as well"):
        app(["train", "recipe", "dapo", "--data", "x.jsonl"], standalone_mode=False)


def test_a_stage_starts_from_the_model_of_the_one_it_names(tmp_path: Path) -> None:
    inputs = {"problems": Path("p"), "cold_start": Path("c")}
    models = {"start": "base", "student": "small"}
    stages = plan(load_recipe("r1"), models, inputs, tmp_path, {"second_rl": {"max_steps": 7}})
    found = {stage.step.name: stage for stage in stages}
    assert found["cold_start"].model == "base"
    assert found["reasoning"].model == str(tmp_path / "cold_start" / "model")
    assert found["rejection_sft"].model == "base"
    assert found["rejection_sft"].data == tmp_path / "sample"
    assert found["student"].model == "small"
    assert found["student"].data == tmp_path / "teach"
    assert isinstance(found["second_rl"].config, GrpoConfig)
    assert found["second_rl"].config.max_steps == 7


def test_a_teacher_is_a_model_that_was_given_or_that_an_earlier_stage_leaves(tmp_path: Path) -> None:
    inputs, models = {"problems": Path("p")}, {"start": "large", "student": "small"}
    chosen = load_recipe("qwen3_small")
    last = plan(chosen, models, inputs, tmp_path, {})[-1]
    assert (last.model, last.config.model_dump()["teacher"]) == (str(tmp_path / "on_policy" / "model"), "large")
    own = chosen.stages[-1].model_copy(update={"teacher": "off_policy"})
    last = plan(chosen.model_copy(update={"stages": (*chosen.stages[:-1], own)}), models, inputs, tmp_path, {})[-1]
    assert last.config.model_dump()["teacher"] == str(tmp_path / "off_policy" / "model")


def test_a_setting_is_changed_by_its_short_form_or_in_its_table_and_the_others_stay(tmp_path: Path) -> None:
    inputs, models = {"problems": tmp_path}, {"start": "m"}
    for name in ("max_tokens", "sampling.max_tokens"):
        changed = changes(
            [f"rl.{name}=100", "rl.rewards=[accuracy]", "rl.rewards.weights=[3]", "rl.trl={adam_beta2: 0.9}"]
        )
        config = plan(load_recipe("dapo"), models, inputs, tmp_path, changed)[0].config
        assert isinstance(config, GrpoConfig)
        assert (config.sampling.max_tokens, config.generation.group_size) == (100, 16)
        assert (config.rewards.names, config.rewards.weights, config.rewards.overlong_cache) == (
            ("accuracy",),
            (3,),
            4096,
        )
    with pytest.raises(UserError, match=r"stage rl: trl\.epsilon is not a setting; set trl as a whole"):
        plan(load_recipe("r1_zero"), models, inputs, tmp_path, changes(["rl.trl.epsilon=1"]))


def test_a_plan_lists_the_settings_that_are_not_the_defaults_by_their_full_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = copying_problems(tmp_path / "problems.jsonl")
    arguments = ["--model", "org/model", "--data", str(problems), "--out", str(tmp_path / "out"), "--dry-run"]
    app(["train", "recipe", "dapo", *arguments], standalone_mode=False)
    printed = capsys.readouterr().out
    assert "  generation.updates: 16\n" in printed
    assert "  rewards.weights: [2.0, 1.0]\n" in printed
    assert "temperature" not in printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("about: x\nstages: [{name: a, command: distill-on-policy, teacher: b}]\n", "needs b, which no earlier stage"),
        ("about: x\nstages: [{name: a, command: distill-on-policy}]\n", "stage a: teacher is missing"),
        ("about: x\nstages: [{name: a, command: distill, teacher: start}]\n", "distill has no teacher"),
        ("about: x\nstages: [{name: a, command: grpo, config: {top_k: 1}}]\n", "did you mean sampling.top_k"),
        (
            "about: x\nstages: [{name: a, command: grpo, config: {max_tokens: 1, sampling: {max_tokens: 1}}}]\n",
            "stage a: max_tokens is given twice, also as sampling.max_tokens",
        ),
        ("about: x\nstages: [{name: a, command: sft, model: b}]\n", "needs b, which no earlier stage makes"),
        ("about: x\nstages: [{name: a, command: grppo}]\n", "grppo"),
        ("about: x\nstages: [{name: a, command: sft, config: {max_stepps: 1}}]\n", "did you mean max_steps"),
        ("about: x\nstages: [{name: a, command: grpo, config: {max_steps: 0}}]\n", "max_steps is 0"),
    ],
)
def test_a_recipe_that_cannot_work_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        plan(load_recipe(str(path)), {"start": "m"}, {"problems": tmp_path}, tmp_path / "out", {})


def test_a_wrong_name_or_stage_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean dapo"):
        load_recipe("dapoo")
    with pytest.raises(UserError, match="no stage rll; did you mean rl"):
        plan(load_recipe("dapo"), {"start": "m"}, {"problems": tmp_path}, tmp_path / "out", {"rll": {}})


def test_a_recipe_that_distils_needs_a_student_or_an_earlier_end(tmp_path: Path) -> None:
    inputs = {"problems": tmp_path, "cold_start": tmp_path}
    with pytest.raises(UserError, match="give --student"):
        plan(load_recipe("r1"), {"start": "m"}, inputs, tmp_path, {})
    shorter = cut(load_recipe("r1"), "second_rl")
    assert [stage.step.name for stage in plan(shorter, {"start": "m"}, inputs, tmp_path, {})][-1] == "second_rl"
    with pytest.raises(UserError, match="did you mean second_rl"):
        cut(load_recipe("r1"), "second_rll")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--student", "./nowhere"), "'./nowhere': there is no such folder"),
        (("--cold-start", "nothing.jsonl"), "nothing.jsonl: no such file"),
    ],
)
def test_a_missing_input_of_a_late_stage_is_refused_before_the_first_one_runs(
    tmp_path: Path, given: tuple[str, ...], message: str
) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    problems = copying_problems(tmp_path / "problems.jsonl")
    words = {"--student": str(tmp_path / "model"), "--cold-start": str(problems), given[0]: given[1]}
    arguments = ["--model", str(tmp_path / "model"), "--data", str(problems), "--out", str(tmp_path / "out")]
    with pytest.raises(UserError, match=message):
        app(["train", "recipe", "r1", *arguments, *chain(*words.items())], standalone_mode=False)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("lacking", "message"),
    [
        ({"chat_template.jinja": ""}, "stage rl: --max-tokens is 20000; a context of 512 tokens leaves no room"),
        ({}, "stage rl: .*: has no chat template"),
    ],
)
def test_a_model_unfit_for_a_late_stage_is_refused_before_the_first_one_runs(
    tmp_path: Path, lacking: dict[str, str], message: str
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    for name, text in {"config.json": '{"max_position_embeddings": 512}', **lacking}.items():
        (model / name).write_text(text)
    path = tmp_path / "mine.yaml"
    path.write_text(
        "about: two stages\n"
        "stages:\n"
        "- {name: cold, command: sft, config: {prompt_format: raw}}\n"
        "- {name: rl, command: grpo, model: cold, config: {max_tokens: 20000}}\n"
    )
    problems = copying_problems(tmp_path / "problems.jsonl")
    arguments = ["--model", str(model), "--data", str(problems), "--out", str(tmp_path / "out")]
    with pytest.raises(UserError, match=message):
        app(["train", "recipe", str(path), *arguments], standalone_mode=False)
    assert not (tmp_path / "out").exists()


def test_a_cost_counts_rollouts_once_and_passes_as_training() -> None:
    config = GrpoConfig(
        num_problems=4, group_size=4, max_steps=20, passes_per_generation=2, save_steps=2, max_tokens=100
    )
    cost = cost_of(config, 1_000_000, pool_size=5)
    assert cost.rollouts == 4 * 4 * 10
    assert cost.generated == 4 * 4 * 10 * 50
    assert cost.trained == 4 * 4 * 20 * 50
    assert cost.gpu_hours is not None
    assert cost_of(SftConfig(), None, pool_size=5).gpu_hours is None
    assert (cost + Cost()).rollouts == cost.rollouts


@pytest.mark.heavy
@pytest.mark.timeout(300)
def test_each_stage_of_a_recipe_starts_from_an_earlier_one(tmp_path: Path) -> None:
    from support.training.toy_runs import small_toy

    path = tmp_path / "mine.yaml"
    path.write_text(
        "about: a cold start and three steps\n"
        "stages:\n"
        "- {name: cold, command: sft, data: cold_start, config: {max_steps: 3, batch_size: 4, max_tokens: 64}}\n"
        "- {name: rl, command: grpo, model: cold,\n"
        "   config: {max_steps: 2, num_problems: 2, group_size: 2, max_tokens: 8, save_steps: 1}}\n"
    )
    small_toy(tmp_path / "toy")
    cold = write_jsonl(tmp_path / "cold.jsonl", [{"prompt": "Say 1.", "completion": "\\boxed{1}"}] * 8)
    problems = copying_problems(tmp_path / "problems.jsonl")
    arguments = ["train", "recipe", str(path), "--model", str(tmp_path / "toy"), "--data", str(problems)]
    app([*arguments, "--cold-start", str(cold), "--out", str(tmp_path / "out")], standalone_mode=False)
    assert (tmp_path / "out" / "cold" / "model" / "config.json").is_file()
    assert len((tmp_path / "out" / "rl" / "draws.jsonl").read_text().splitlines()) == 2


@pytest.mark.heavy
@pytest.mark.timeout(300)
def test_a_teachers_answers_then_its_distribution_then_rl_run_one_from_the_other(tmp_path: Path) -> None:
    from support.training.toy_runs import small_toy, train_copier

    path = tmp_path / "mine.yaml"
    sizes = "max_steps: 2, batch_size: 4, save_steps: 2"
    path.write_text(
        "about: strong to weak, and general RL\n"
        "stages:\n"
        "- {name: teach, command: difficulty,\n"
        "   config: {k: 4, max_tokens: 16, early_stop: false, engine: transformers}}\n"
        f"- {{name: off_policy, command: fuse, model: student, data: teach, config: {{{sizes}, max_tokens: 64}}}}\n"
        "- {name: on_policy, command: distill-on-policy, model: off_policy, teacher: start,\n"
        f"   config: {{{sizes}, max_tokens: 8}}}}\n"
        "- {name: general, command: grpo, model: on_policy,\n"
        "   config: {max_steps: 1, num_problems: 2, group_size: 2, max_tokens: 8, save_steps: 1,\n"
        "            template: '{prompt} /no_think', rewards: [accuracy, think_flag]}}\n"
    )
    teacher = train_copier(tmp_path / "teacher")
    problems = copying_problems(tmp_path / "problems.jsonl")
    arguments = ["train", "recipe", str(path), "--model", str(teacher), "--student", str(small_toy(tmp_path / "small"))]
    out = ["--out", str(tmp_path / "out")]
    with pytest.raises(UserError, match="stage teach samples the problems of an artifact, not of a file"):
        app([*arguments, "--data", str(problems), *out], standalone_mode=False)
    app(["curate", "ingest", str(problems), "--out", str(tmp_path / "pool")], standalone_mode=False)
    app([*arguments, "--data", str(tmp_path / "pool"), *out], standalone_mode=False)
    for stage in ("off_policy", "on_policy", "general"):
        assert (tmp_path / "out" / stage / "model" / "config.json").is_file()
    assert "teacher_digest" in (tmp_path / "out" / "on_policy" / "config.yaml").read_text()
    assert "rewards/think_flag/mean" in (tmp_path / "out" / "general" / "log.jsonl").read_text()
