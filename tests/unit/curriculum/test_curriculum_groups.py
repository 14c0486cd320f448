"""Groups of problems: by source and level, where the dataset has them."""

import polars as pl

from curriculum import CurriculumConfig
from curriculum.forecast.groups import MAX_GROUPS, ONE_GROUP, REST, codes, group_labels


def labels(problems: pl.DataFrame, *groups: str) -> list[str]:
    config = CurriculumConfig.model_validate({"groups": groups} if groups else {})
    return group_labels(problems, config).to_list()


def test_a_dataset_without_sources_and_levels_is_one_group() -> None:
    assert set(labels(pl.DataFrame({"key": ["a", "b"]}))) == {ONE_GROUP}
    assert set(
        labels(
            pl.DataFrame(
                {"key": ["a"], "extra": [None], "source": [None]},
                schema_overrides={"extra": pl.String, "source": pl.String},
            )
        )
    ) == {ONE_GROUP}


def test_the_source_and_the_level_in_extra_make_the_groups() -> None:
    problems = pl.DataFrame(
        {
            "key": ["a", "b", "c", "d"],
            "source": ["x", "x", "y", None],
            "extra": ['{"level": "Level 3"}', '{"level": 2}', '{"other": 1}', None],
        }
    )
    assert labels(problems) == ["source=x level=Level 3", "source=x level=2", "source=y level=?", "source=? level=?"]
    assert labels(problems, "source") == ["source=x", "source=x", "source=y", "source=?"]
    code, names = codes(pl.Series(labels(problems)))
    assert [names[i] for i in code] == labels(problems)


def test_unmeasured_problems_are_groups_of_their_own() -> None:
    problems = pl.DataFrame({"key": ["a", "b"], "source": ["x", "x"], "num_correct": [3, None], "num_samples": [8, 8]})
    assert labels(problems) == ["source=x", "source=x unmeasured"]


def test_many_numbers_are_cut_into_quarters() -> None:
    problems = pl.DataFrame({"key": [str(i) for i in range(100)], "level": [i / 7 for i in range(100)]})
    found = pl.Series(labels(problems))
    assert all(23 <= num <= 27 for num in found.value_counts()["count"].to_list())
    assert found.n_unique() == 4
    assert found[0] == found[20] != found[99]


def test_a_long_tail_of_sources_is_one_group() -> None:
    sources = [f"s{i:02}" for i in range(40) for _ in range(40 - i)]
    problems = pl.DataFrame({"key": [str(i) for i in range(len(sources))], "source": sources})
    found = labels(problems)
    assert len(set(found)) == MAX_GROUPS
    assert found[0] == "source=s00"
    assert found[-1] == REST
