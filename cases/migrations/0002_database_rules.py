"""What only SQL can promise: the business clock, rising fencing tokens, an append-only audit."""

from django.db import migrations

BUSINESS_CLOCK = """
CREATE FUNCTION business_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT clock_timestamp()
        + coalesce((SELECT o."offset" FROM cases_clockoffset o WHERE o.id = 1), interval '0')
$$;
"""

FENCING_TOKENS = "CREATE SEQUENCE fencing_token_seq AS bigint START 1 NO CYCLE;"

APPEND_ONLY_AUDIT = """
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The audit is append-only: % of an audit event is refused.', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_is_append_only
    BEFORE UPDATE OR DELETE ON cases_auditevent
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
"""


class Migration(migrations.Migration):
    """Functions, sequence and trigger beside the tables."""

    dependencies = [("cases", "0001_the_record")]

    operations = [
        migrations.RunSQL(BUSINESS_CLOCK, "DROP FUNCTION business_now();"),
        migrations.RunSQL(FENCING_TOKENS, "DROP SEQUENCE fencing_token_seq;"),
        migrations.RunSQL(
            APPEND_ONLY_AUDIT,
            "DROP TRIGGER audit_is_append_only ON cases_auditevent;"
            "DROP FUNCTION refuse_audit_change();",
        ),
    ]
