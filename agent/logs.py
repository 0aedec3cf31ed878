"""How the agent logs: one line per event with its case, through the program's own handlers."""

import structlog


def configure_logs() -> None:
    """Send structured events to the standard library's loggers, which Celery has set up."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.filter_by_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event", "case_id"], sort_keys=True),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
