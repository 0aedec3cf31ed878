"""Addresses of the pages."""

from django.urls import path

from cases.web import preferences, session, webhooks
from cases.web.views import acts, case, decisions, demo, health, lists, pauses, queue, styleguide

urlpatterns = [
    path("", queue.queue, name="queue"),
    path("hint/", queue.hint, name="queue-hint"),
    path("closed/", lists.closed, name="closed"),
    path("search", lists.search, name="search"),
    path("healthz", health.healthz, name="health"),
    path("login/", session.sign_in, name="login"),
    path("logout/", session.sign_out, name="logout"),
    path("preferences/", preferences.choose, name="preferences"),
    path("cases/<int:case_id>/", case.case, name="case"),
    path("cases/<int:case_id>/hint/", case.hint, name="case-hint"),
    path("cases/<int:case_id>/timeline/", case.timeline, name="timeline"),
    path("cases/<int:case_id>/compare/", case.compare, name="compare"),
    path("cases/<int:case_id>/draft/", case.keep, name="draft"),
    path("cases/<int:case_id>/decide/", decisions.decide, name="decide"),
    path("cases/<int:case_id>/take/", acts.take, name="take"),
    path("cases/<int:case_id>/assign/", acts.assign, name="assign"),
    path("cases/<int:case_id>/accept/", acts.accept, name="accept"),
    path("cases/<int:case_id>/close/", acts.close, name="close"),
    path("cases/<int:case_id>/plan/", acts.plan, name="plan"),
    path("cases/<int:case_id>/withdraw/", acts.withdraw, name="withdraw"),
    path("cases/<int:case_id>/budget/", acts.budget, name="budget"),
    path("cases/<int:case_id>/finding/", acts.finding, name="finding"),
    path("cases/<int:case_id>/trust/", acts.trust, name="trust"),
    path("cases/<int:case_id>/refresh/", acts.refresh, name="refresh"),
    path("pauses/", pauses.pauses, name="pauses"),
    path("pauses/in-flight/", pauses.still_in_flight, name="in-flight"),
    path("pauses/<int:pause_id>/lift/", pauses.lift, name="lift"),
    path("hooks/<slug:system>/", webhooks.receive, name="webhook"),
    path("demo/advance/", demo.advance, name="advance"),
    path("demo/clock/", demo.strip, name="clock-strip"),
    path("styleguide/", styleguide.styleguide, name="styleguide"),
]
