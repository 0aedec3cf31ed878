"""What an outsider can read, and in which form."""

from email.utils import parsedate_to_datetime

import httpx
import pytest

from tests.simulator import Simulator
from tests.transport_sim.caller import Caller, read, refused
from tools.simulator_control import SimulatorControl


def test_a_shipment_shows_its_stops_in_utc_and_in_local_wall_time(caller: Caller) -> None:
    shipment = caller.shipment()
    assert shipment["version"] == 39
    assert shipment["etag"] == '"39"'
    assert shipment["status"] == "uncovered"
    assert shipment["carrier"] is None
    assert shipment["weight_kg"] == "18250"
    assert shipment["lane"] == "DFW → ATL"
    assert shipment["customer"]["name"] == "Harbor Foods"
    pickup, delivery = shipment["stops"]
    assert (pickup["id"], pickup["kind"], pickup["zone"]) == (
        "S-318-1",
        "pickup",
        "America/Chicago",
    )
    assert pickup["window"] == {
        "start": "2026-11-24T18:00:00Z",
        "end": "2026-11-24T21:00:00Z",
        "start_local": "2026-11-24T12:00",
        "end_local": "2026-11-24T15:00",
    }
    assert delivery["window"]["start_local"] == "2026-11-25T10:00"
    assert delivery["window"]["end"] == "2026-11-25T17:00:00Z"


def test_a_reader_with_the_current_version_gets_304(caller: Caller) -> None:
    first = caller.client.get("/v1/shipments/S-318")
    tag = first.headers["ETag"]
    same = caller.client.get("/v1/shipments/S-318", headers={"If-None-Match": tag})
    assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", tag)
    older = caller.client.get("/v1/shipments/S-318", headers={"If-None-Match": '"38"'})
    assert older.status_code == 200


def test_a_bulk_read_keeps_the_order_and_names_what_is_missing(caller: Caller) -> None:
    answer = read(caller.client.get("/v1/shipments?ids=S-377,S-404,S-318"))
    assert [item["id"] for item in answer["items"]] == ["S-377", "S-318"]
    assert answer["missing"] == ["S-404"]
    assert answer["items"][1] == caller.shipment()


def test_a_bulk_read_takes_200_ids_and_no_more(caller: Caller) -> None:
    ids = [f"S-{number}" for number in range(1000, 1200)]
    assert (
        len(read(caller.client.get("/v1/shipments", params={"ids": ",".join(ids)}))["missing"])
        == 200
    )
    too_many = caller.client.get("/v1/shipments", params={"ids": ",".join([*ids, "S-1"])})
    assert refused(too_many, 422, "invalid_field")["field"] == "ids"


def test_a_list_goes_on_where_the_page_ended(caller: Caller) -> None:
    first = read(caller.client.get("/v1/shipments?limit=1"))
    assert [item["id"] for item in first["items"]] == ["S-377"]
    params = {"limit": "1", "cursor": first["next_cursor"]}
    second = read(caller.client.get("/v1/shipments", params=params))
    assert [item["id"] for item in second["items"]] == ["S-318"]
    assert second["next_cursor"] is None
    since = read(caller.client.get("/v1/shipments?updated_since=2026-11-23T21:40:00Z"))
    assert [item["id"] for item in since["items"]] == ["S-318"]
    refused(caller.client.get("/v1/shipments?cursor=nonsense"), 400, "malformed_cursor")


def test_quotes_are_open_until_they_expire_by_the_simulators_clock(
    caller: Caller, control: SimulatorControl
) -> None:
    quote = read(caller.client.get("/v1/quotes/QX-70"))
    assert quote["status"] == "open"
    assert quote["carrier"] == {"scac": "BLUX", "name": "Bluewater Express"}
    assert (quote["amount_minor"], quote["currency"]) == (184_000, "USD")
    assert (quote["expires_at"], quote["expires_zone"]) == (
        "2026-11-23T22:30:00Z",
        "America/Chicago",
    )
    control.advance_clock(seconds=29 * 60)
    assert read(caller.client.get("/v1/quotes/QX-70"))["status"] == "open"
    control.advance_clock(seconds=60)
    items = read(caller.client.get("/v1/quotes?shipment_ids=S-318"))["items"]
    assert {item["id"]: item["status"] for item in items} == {"QX-68": "open", "QX-70": "expired"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/v1/shipments/S-404", "shipment_not_found"),
        ("/v1/quotes/QX-404", "quote_not_found"),
        ("/v1/bookings/B-404", "booking_not_found"),
        ("/v1/messages/M-404", "message_not_found"),
        ("/v1/tenders", "unknown_path"),
        ("/v1/shipments/S-318/", "unknown_path"),
        ("/v1/shipments/%00", "unknown_path"),
        ("/", "unknown_path"),
    ],
)
def test_what_does_not_exist_is_a_404_problem(caller: Caller, path: str, code: str) -> None:
    refused(caller.client.get(path), 404, code)


@pytest.mark.parametrize("path", ["/v1/bookings", "/v1/messages"])
def test_lists_of_effects_need_exactly_one_filter(caller: Caller, path: str) -> None:
    refused(caller.client.get(path), 400, "one_filter_required")
    both = {"shipment_ids": "S-318", "client_reference": "x"}
    refused(caller.client.get(path, params=both), 400, "one_filter_required")
    assert read(caller.client.get(path, params={"client_reference": "x"})) == {"items": []}


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "x"}])
def test_both_doors_are_closed_without_the_right_token(
    simulator: Simulator, header: dict[str, str]
) -> None:
    for path in ("/v1/shipments/S-318", "/sim/ledger"):
        answer = httpx.get(simulator.url + path, headers=header, trust_env=False)
        refused(answer, 401, "unauthorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_the_agents_token_does_not_open_the_control_plane_nor_the_other_way_round(
    simulator: Simulator,
) -> None:
    with simulator.client() as client:
        refused(client.get("/sim/ledger"), 401, "unauthorized")
        director = {"Authorization": f"Bearer {simulator.control_token}"}
        refused(client.get("/v1/shipments/S-318", headers=director), 401, "unauthorized")


def test_every_answer_carries_the_simulators_own_date_once(
    caller: Caller, control: SimulatorControl
) -> None:
    for path in ("/v1/shipments/S-318", "/v1/nowhere", "/sim/health", "/sim/ledger"):
        answer = caller.client.get(path)
        dates = answer.headers.get_list("Date")
        assert len(dates) == 1, path
        distance = parsedate_to_datetime(dates[0]) - control.clock().now
        assert abs(distance.total_seconds()) < 5, path


def test_a_harmless_correlation_id_is_kept_and_any_other_replaced(caller: Caller) -> None:
    kept = caller.client.get("/v1/nowhere", headers={"X-Correlation-Id": "case-7.step-2"})
    assert refused(kept, 404, "unknown_path")["correlation_id"] == "case-7.step-2"
    replaced = caller.client.get("/v1/nowhere", headers={"X-Correlation-Id": "<script>"})
    assert "<" not in replaced.headers["X-Correlation-Id"]


def test_the_rate_limit_is_shown_and_holds(caller: Caller, control: SimulatorControl) -> None:
    control.settings(rate_limit=3, rate_window_seconds=60)
    left = [caller.client.get("/v1/changes").headers["RateLimit-Remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    over = caller.client.get("/v1/changes")
    assert refused(over, 429, "rate_limited")["retryable"] is True
    assert 0 < int(over.headers["Retry-After"]) <= 60
    assert over.headers["RateLimit-Limit"] == "3"
    control.settings(rate_limit=1000)
    assert caller.client.get("/v1/changes").status_code == 200
