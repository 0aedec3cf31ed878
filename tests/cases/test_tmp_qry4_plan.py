# ruff: noqa
from django.db import connection
from cases.clock import business_now
from cases.queries.acts import View, condition_of, counts_for, open_with_act
from cases.queries.queue import by_deadline, PAGE
from tests.cases.builders import *
import time

MANY = """
INSERT INTO cases_case (kind, case_type, subject, title, desk_id, owner_id, stage, stage_since, version,
  planning_round, opened_at, changed_at, decide_by, blocked_reason, blocked_from, blocked_tries, stage_reason, closed_by, closed_at)
SELECT 'freight_exception','E02','B-' || n,'x',%(desk)s,%(owner)s,
  CASE WHEN n %% 4 = 0 THEN 'waiting_for_review' ELSE 'closed' END, business_now(),1,1,business_now(),business_now(),
  business_now() + n * interval '1 second','','',0,'', CASE WHEN n %% 4 = 0 THEN '' ELSE 'x' END,
  CASE WHEN n %% 4 = 0 THEN NULL ELSE business_now() END
FROM generate_series(1, 20000) AS n;
INSERT INTO cases_proposal (case_id, number, state, state_reason, state_since, author, created_at, summary, facts, changes, currency, decide_by, digest)
SELECT c.id, v, CASE WHEN v = 3 AND c.stage <> 'closed' THEN 'ready' ELSE 'superseded' END, '', business_now(), 'a', business_now(), '', '[]', '[]', '', business_now(), ''
FROM cases_case c, generate_series(1,3) v WHERE subject LIKE 'B-%%';
INSERT INTO cases_escalation (case_id, cause, reason, to_id, started_at, ended_at, ended_reason)
SELECT id, 'not_decided', 'x', %(owner)s, business_now(), CASE WHEN id %% 20 = 0 THEN NULL ELSE business_now() END, CASE WHEN id %% 20 = 0 THEN '' ELSE 'x' END
FROM cases_case WHERE subject LIKE 'B-%%';
INSERT INTO cases_decision (case_id, proposal_id, kind, by_id, by_name, at, reason, digest, seen_case_version, nonce, ended_at, ended_reason, carried_out)
SELECT case_id, id, 'reject', %(owner)s, 'x', business_now(), 'x', '', 1, gen_random_uuid(), NULL, '', false FROM cases_proposal WHERE number < 3;
"""


def test_plan(cast):
    with connection.cursor() as c:
        c.execute(MANY, {"desk": cast.desk.pk, "owner": cast.owner.pk})
        c.execute("SET CONSTRAINTS ALL IMMEDIATE")
        c.execute("ANALYZE")
    for view in (View.MINE, View.ALL):
        q = by_deadline(condition_of(view, person=cast.owner))[: PAGE + 1]
        if view is View.ALL:
            print(str(q.query))
        t = time.time()
        n = len(list(q))
        print(view, n, time.time() - t)
        print(q.explain(analyze=True, buffers=True))
    t = time.time()
    print(counts_for(cast.owner), time.time() - t)


import re
import pytest
from django.test import Client
from tests.cases.test_query_ceilings import *
from tests.cases import test_query_ceilings as tq

for name in [n for n in globals() if n.startswith("test_") and n not in ("test_plan",)]:
    del globals()[name]


@pytest.mark.parametrize("made", [tq.revised, tq.given_up_and_gone_back, tq.found_out])
def test_zz(cast, sender, made):
    case = made(cast, sender)
    tq.surround(cast)
    tq.enrich(cast, case, times=2)
    c = Client()
    c.force_login(cast.lead)
    page = c.get(f"/cases/{case.pk}/").content.decode()
    main = page[page.index('class="topbar"') :]
    open(f"/tmp/wb/copies/qry4_{made.__name__}.html", "w").write(page)
    text = re.sub(r"<(h[1-6]|summary|section|aside|legend)[^>]*>", r"\n#\1 ", main)
    text = re.sub(r"<[^>]*>", " ", text)
    text = re.sub(r"[ \t\r]+", " ", text)
    text = re.sub(r"\n\s*\n+", "\n", text)
    open(f"/tmp/wb/copies/qry4_{made.__name__}.txt", "w").write(text)

from tests.cases.mornings import a_night_case, opened, read_again, AFTER, answer, looked_at, Kind
from cases.actions import sheets
def test_zsheet(cast, sender):
    a_roster(cast)
    for s in ("S-318", "S-319"):
        case = a_night_case(cast, s); tq.enrich(cast, case, times=1)
    h = opened(cast); at_business_time(AFTER)
    print("SHEET", tq.queries(cast.lead, f"/handover/{h.pk}/"))
    for view in View:
        print("QUEUE", view, tq.queries(cast.owner, f"/?view={view.value}"), tq.queries(cast.auditor, f"/?view={view.value}"))
    for m in (tq.revised,):
        pass
