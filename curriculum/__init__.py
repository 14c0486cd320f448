"""Which problem next: statistics, policies, retirement with a guarantee, and state that resumes exactly."""

from curriculum.config import CurriculumConfig
from curriculum.curriculum import Curriculum
from curriculum.outage import Outage
from curriculum.slots import PoolExhausted
from curriculum.visits import Visit

__all__ = ["Curriculum", "CurriculumConfig", "Outage", "PoolExhausted", "Visit"]
