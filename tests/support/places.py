"""Where the project, its labelled cases and the real data beside it stand."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases"
SHARED = ROOT.parent / "shared"
