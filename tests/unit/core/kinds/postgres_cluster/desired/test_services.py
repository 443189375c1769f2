"""Services of a cluster: fields of the file that no golden file shows."""

from __future__ import annotations

import pytest

from queenright.core.kinds.postgres_cluster.desired.services import proxy_service
from tests.support.documents import document, edited

IMAGE = "    image: registry:5000/queenright-proxy:3.0-alpine\n"


@pytest.mark.parametrize(
    ("line", "delay_s"), [("", 10.0), ("    update: {delay: 500ms}\n", 0.5)], ids=["usual", "quick"]
)
def test_the_next_proxy_waits_for_the_delay_of_the_file(line: str, delay_s: float) -> None:
    cluster = document(edited((IMAGE, IMAGE + line))).resource
    assert proxy_service(cluster, "haproxy", "route").update.delay_s == delay_s
