"""Every test of the simulator starts in the freshly loaded S-318 world."""

from collections.abc import Iterator

import pytest

from tests.simulator import Simulator
from tests.transport_sim.caller import Caller
from tools.simulator_control import SimulatorControl


@pytest.fixture
def control(simulator: Simulator) -> SimulatorControl:
    """The director, after loading S-318 at Monday 16:00 in Chicago."""
    simulator.control.reset(scenario="s318")
    return simulator.control


@pytest.fixture
def caller(simulator: Simulator, control: SimulatorControl) -> Iterator[Caller]:
    """An outsider with the agent's credential in the freshly loaded world."""
    with simulator.client() as client:
        yield Caller(client)
