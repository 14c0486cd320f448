"""Which problem next: statistics, policies, retirement with a guarantee, and state that resumes exactly."""

from curriculum.config import CurriculumConfig
from curriculum.curriculum import Curriculum
from curriculum.draw.slots import PoolExhausted
from curriculum.pools.outage import Outage
from curriculum.statistics.visits import Visit

__all__ = ["Curriculum", "CurriculumConfig", "Outage", "PoolExhausted", "Visit"]
