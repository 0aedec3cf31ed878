from datetime import timedelta
import pytest
from cases.actions import runs, sheets
from cases.actions.conditions import NewCondition, open_condition
from cases.actions.lines import NewLine, write_line
from cases.clock import business_now
from cases.models import Case, HandoverRow
from cases.vocabulary.shifts import WallTime
from tests.cases.builders import *
from tests.cases.doubts import a_case_in_doubt
from tests.cases.mornings import *
pytestmark = pytest.mark.browser
OUT="/tmp/wb/sheetshots/"
def test_shots(cast, context_of, open_tab):
    a_roster(cast)
    doubt, grant, _ = a_case_in_doubt(cast); runs.let_go(grant=grant)
    stale = a_case_waiting_for_review(cast, subject="S-319")
    ready, unread, unowned, urgent = (a_night_case(cast, f"S-32{n}") for n in range(4))
    open_condition(wanted=NewCondition(sort="connector", title="Swift EDI answers slowly", desk=cast.desk, detail="Call their dispatch instead"), by=cast.lead, at=EVENING)
    due = WallTime(wall=MORNING.replace(tzinfo=None, hour=9), zone="America/Chicago")
    for line in (NewLine(sort="promise", text="Call before noon", party="Harbor Foods", due=due), NewLine(sort="do_not", text="Do not call the driver before 06:00"), NewLine(sort="if_then", text="If BLUX does not answer by 09:00, then ask OAKX")):
        write_line(case_id=stale.pk, line=line, by=cast.owner, at=business_now())
    h = opened(cast)
    Case.objects.filter(pk=doubt.pk).update(refreshed_at=business_now())
    for case in (ready, unowned, urgent): read_again(case)
    agent_reads(unread, (unreadable(a_shipment(subject="S-321")),))
    Case.objects.filter(pk=unowned.pk).update(owner=None)
    Case.objects.filter(pk=urgent.pk).update(decide_by=business_now()+timedelta(minutes=30))
    row = HandoverRow.objects.get(case=urgent)
    sheets.write_note(row_id=row.pk, text="Swift dispatcher calls back 08:30 – ask for Bo.", seen="", by=cast.owner, at=business_now())
    sheets.publish(handover_id=h.pk, by=cast.owner, at=business_now())
    read_again(stale, 42, delivery_window=TWO_O_CLOCK); at_business_time(AFTER)
    Case.objects.filter(pk=ready.pk).update()
    answer(looked_at(ready), Kind.ACCEPT, cast.colleague)
    for theme in ("light","dark"):
        page = open_tab(context_of(cast.lead, theme=theme), f"/handover/{h.pk}/")
        page.screenshot(path=OUT+f"{theme}.png", full_page=True)
    print(page.evaluate("""() => { const t=document.querySelector('.sheet-facts'); const s=getComputedStyle(t.querySelector('th')); return [s.width, getComputedStyle(t).display, getComputedStyle(t).tableLayout, [...t.rows[0].cells].map(c=>c.offsetWidth)] }"""))
    phone = open_tab(context_of(cast.lead, width=375), f"/handover/{h.pk}/")
    phone.screenshot(path=OUT+"phone.png", full_page=True)
    print("width", phone.evaluate("document.documentElement.scrollWidth"))
    page = open_tab(context_of(cast.lead), f"/handover/{h.pk}/")
    page.pdf(path=OUT+"a4.pdf", format="A4"); page.pdf(path=OUT+"letter.pdf", format="Letter")
    page.emulate_media(media="print"); page.set_viewport_size({"width": 703, "height": 1000}); page.screenshot(path=OUT+"print.png", full_page=True)
    print(page.evaluate("""() => { const t=document.querySelector('.sheet-facts'); const s=getComputedStyle(t.querySelector('th')); return [s.width, getComputedStyle(t).display, getComputedStyle(t).tableLayout, [...t.rows[0].cells].map(c=>c.offsetWidth)] }"""))
    lists = open_tab(context_of(cast.lead), "/handovers/"); lists.screenshot(path=OUT+"list.png", full_page=True)
    import subprocess
    from playwright.sync_api import expect
    p = open_tab(context_of(cast.colleague), f"/handover/{h.pk}/")
    form = p.locator(f"#row-{row.pk}")
    move_business_clock(by=timedelta(seconds=3))
    form.get_by_label("Delivery window").fill("Wed 25 Nov 14:00–16:00 EST")
    form.get_by_label("Carrier").fill("none")
    form.get_by_role("button", name="Accept").click()
    p.wait_for_load_state()
    p.screenshot(path=OUT+"refused.png")
    p.screenshot(path=OUT+"refused_full.png", full_page=True)
