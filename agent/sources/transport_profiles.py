"""What a transport system can do, by profile; `TRANSPORT_PROFILE` names an installation's own."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from agent.sources.transport_facts import SYSTEM
from cases.vocabulary.work import Capabilities, VersionKind

MODERN = Capabilities(
    system=SYSTEM,
    versions=VersionKind.NUMBER,
    conditional_writes=True,
    leases=True,
    fencing=True,
    lookup_by_reference=True,
    key_lifetime=timedelta(hours=24),
    consistency_window=timedelta(seconds=5),
    calls_per_minute=3_000,
    change_feed=True,
)

PROFILES: Mapping[str, Capabilities] = {
    "modern": MODERN,
    "no_idempotency": replace(MODERN, key_lifetime=None),
    "no_version": replace(MODERN, versions=VersionKind.NONE, conditional_writes=False),
    # A record that an employee has open is refused with 423; nothing else differs.
    "locked_by_user": MODERN,
}
