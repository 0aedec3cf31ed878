"""Sheets are published; once signed, nothing about them changes, and answers are never edited."""

from django.db import migrations, models

SIGNED_SHEETS = """
CREATE FUNCTION refuse_signed_sheet() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    about bigint;
    signed timestamptz;
BEGIN
    IF TG_TABLE_NAME = 'cases_handover' THEN
        signed := OLD.signed_at;
    ELSE
        IF TG_TABLE_NAME = 'cases_rowanswer' THEN
            IF TG_OP <> 'INSERT' THEN
                RAISE EXCEPTION 'Answers are append-only: % of one is refused.', TG_OP
                    USING ERRCODE = 'insufficient_privilege';
            END IF;
            SELECT handover_id INTO about FROM cases_handoverrow WHERE id = NEW.row_id;
        ELSIF TG_OP = 'INSERT' THEN
            about := NEW.handover_id;
        ELSE
            about := OLD.handover_id;
        END IF;
        -- The lock lets a signature that is under way finish first.
        SELECT signed_at INTO signed FROM cases_handover WHERE id = about FOR SHARE;
    END IF;
    IF signed IS NOT NULL THEN
        RAISE EXCEPTION 'This sheet is signed: % on % is refused.', TG_OP, TG_TABLE_NAME
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER signed_handover_stays BEFORE UPDATE OR DELETE ON cases_handover
    FOR EACH ROW EXECUTE FUNCTION refuse_signed_sheet();
CREATE TRIGGER signed_rows_stay BEFORE INSERT OR UPDATE OR DELETE ON cases_handoverrow
    FOR EACH ROW EXECUTE FUNCTION refuse_signed_sheet();
CREATE TRIGGER signed_answers_stay BEFORE INSERT OR UPDATE OR DELETE ON cases_rowanswer
    FOR EACH ROW EXECUTE FUNCTION refuse_signed_sheet();
"""
BACK = """
DROP TRIGGER signed_handover_stays ON cases_handover;
DROP TRIGGER signed_rows_stay ON cases_handoverrow;
DROP TRIGGER signed_answers_stay ON cases_rowanswer;
DROP FUNCTION refuse_signed_sheet();
"""


class Migration(migrations.Migration):
    """Columns, a constraint, and the triggers."""

    dependencies = [("cases", "0009_no_shift_starts")]

    operations = [
        migrations.AddField("handover", "published_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "handover", "published_by", models.CharField(blank=True, default="", max_length=200)
        ),
        migrations.RemoveField("handoverrow", "draft"),  # made from what stands now, never kept
        # Who is called is kept per case, as its escalation.
        migrations.RemoveField("handover", "lead_called_at"),
        migrations.RemoveField("handover", "manager_called_at"),
        migrations.AddField("rowanswer", "as_blocked", models.BooleanField(default=False)),
        migrations.AddConstraint(
            "handover",
            models.CheckConstraint(
                condition=models.Q(("published_at", None), ("published_by", ""))
                | models.Q(
                    ("published_at__isnull", False),
                    models.Q(("published_by", ""), _negated=True),
                ),
                name="published_handover_says_by_whom",
            ),
        ),
        migrations.RunSQL(SIGNED_SHEETS, BACK),
    ]
