"""The ports that `create-db` goes to are those that the member was started with."""

from pathlib import Path

import pytest

from images.member.queenright_member.inputs import generate
from images.member.queenright_member.ports import Ports, own_ports
from tests.unit.images.member_case import ENVIRONMENT, lay_out


def test_a_member_knows_its_own_ports(tmp_path: Path) -> None:
    paths = lay_out(tmp_path)
    paths.config.write_text(generate(ENVIRONMENT, paths))
    assert own_ports(paths.config) == Ports(8008, 5432)
    template = paths.template.read_text()
    other = template.replace("0.0.0.0:8008", "0.0.0.0:9008").replace("0.0.0.0:5432", "0.0.0.0:6432")
    assert other != template
    paths.template.write_text(other)
    paths.config.write_text(generate(ENVIRONMENT, paths))
    assert own_ports(paths.config) == Ports(9008, 6432)


@pytest.mark.parametrize("text", ["", "restapi: {}", "- a", "a: [", "restapi: {listen: '*'}"])
def test_what_can_not_be_read_leaves_the_contracts_ports(tmp_path: Path, text: str) -> None:
    (tmp_path / "patroni.yml").write_text(text)
    assert own_ports(tmp_path / "patroni.yml") == Ports()
    assert own_ports(tmp_path / "missing.yml") == Ports()
