"""The Celery app: it only nudges. The record knows what is due; losing every message loses nothing.

Start a worker with `python -m celery -A agent.celery worker`; give one of them `-Q execution` so
that releases have hands of their own. Any number of workers and beats may run.
"""

import os

from celery import Celery
from celery.schedules import crontab
from kombu import Exchange, Queue

from agent.logs import configure_logs
from cases.vocabulary.lanes import Lane

SWEEP_SECONDS = 1.0
REFRESH_SECONDS = 1.0
SWEEP_QUEUE = "sweep"
RETENTION_MINUTE = 17

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cases.settings")

configure_logs()
app = Celery("watchbill")
app.conf.update(
    broker_url=os.environ.get("BROKER_URL", "redis://127.0.0.1:6379/0"),
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    # Longer than any task may take, so that a running one is not delivered a second time.
    broker_transport_options={"visibility_timeout": 300},
    imports=("agent.tasks",),
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    task_acks_late=True,
    # A task whose process died is not delivered again: the lease runs out and the sweep brings the
    # case back. So a case that kills its worker cannot go round in the broker for ever.
    task_reject_on_worker_lost=False,
    worker_prefetch_multiplier=1,
    # A heartbeat keeps the lease for 45 s, then it lasts 15 s more: what hangs is ended before
    # anyone else may have the case.
    task_soft_time_limit=50,
    task_time_limit=55,
    task_default_queue=SWEEP_QUEUE,
    # Each with an exchange of its own: queues that share one all get every message.
    task_queues=[
        Queue(name, Exchange(name), routing_key=name)
        for name in (SWEEP_QUEUE, *(lane.value for lane in Lane))
    ],
    timezone="UTC",
    # In memory: what is due is written in the record.
    beat_scheduler="celery.beat:Scheduler",
    beat_schedule={
        "sweep": {
            "task": "agent.sweep",
            "schedule": SWEEP_SECONDS,
            # Sweeps nobody took are worth nothing later.
            "options": {"queue": SWEEP_QUEUE, "expires": 5.0},
        },
        "refresh": {
            "task": "agent.refresh",
            "schedule": REFRESH_SECONDS,
            "options": {"queue": SWEEP_QUEUE, "expires": 5.0},
        },
        "retention": {
            "task": "agent.retention",
            # Once an hour by the clock: counted from its start, a beat that is restarted often
            # would put it off for ever.
            "schedule": crontab(minute=RETENTION_MINUTE),
            "options": {"queue": SWEEP_QUEUE, "expires": 3000.0},
        },
    },
)
