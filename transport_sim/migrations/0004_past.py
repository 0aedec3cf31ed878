"""Keeps every state of every record, and shows the tables as they were before.

Two schemas hold views with the names of the tables. A reader who looks through one of them (see
lenses.py) runs the same queries as always and finds the rows of ``transport_sim.lag`` seconds ago
(``transport_sim_past``), or all rows but the newly created ones (``transport_sim_settled``).

A later migration that adds a column to one of these tables ends with
``SELECT transport_sim_past.show_tables()``, which makes the views anew.
"""

from django.db import migrations

FUNCTIONS = """
CREATE SCHEMA transport_sim_past;
CREATE SCHEMA transport_sim_settled;

CREATE FUNCTION transport_sim_past.lag() RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT make_interval(secs => current_setting('transport_sim.lag')::double precision)
$$;

CREATE FUNCTION transport_sim_past.now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT clock_timestamp() + clock_offset FROM public.transport_sim_world WHERE id = 1
$$;

CREATE FUNCTION transport_sim_past.keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.transport_sim_paststate (table_name, record_id, at, record)
    VALUES (TG_TABLE_NAME, to_jsonb(NEW) ->> TG_ARGV[0], transport_sim_past.now(), to_jsonb(NEW));
    RETURN NULL;
END
$$;

CREATE FUNCTION transport_sim_past.show_tables() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    kept text;
BEGIN
    FOR kept IN
        SELECT event_object_table FROM information_schema.triggers
        WHERE trigger_name = 'transport_sim_keep' GROUP BY event_object_table
    LOOP
        EXECUTE format('DROP VIEW IF EXISTS transport_sim_past.%1$I', kept);
        EXECUTE format(
            'CREATE VIEW transport_sim_past.%1$I AS SELECT shown.* FROM ('
            ' SELECT DISTINCT ON (record_id) record FROM public.transport_sim_paststate'
            ' WHERE table_name = %1$L'
            ' AND at <= (SELECT transport_sim_past.now() - transport_sim_past.lag())'
            ' ORDER BY record_id, id DESC) AS newest,'
            ' jsonb_populate_record(NULL::public.%1$I, newest.record) AS shown', kept);
    END LOOP;
    DROP VIEW IF EXISTS transport_sim_past.transport_sim_world;
    CREATE VIEW transport_sim_past.transport_sim_world AS
        SELECT shown.* FROM public.transport_sim_world AS world, jsonb_populate_record(
            world, jsonb_build_object('clock_offset', world.clock_offset - transport_sim_past.lag())
        ) AS shown;
    FOR kept IN SELECT unnest(ARRAY['transport_sim_booking', 'transport_sim_outgoingmessage'])
    LOOP
        EXECUTE format('DROP VIEW IF EXISTS transport_sim_settled.%1$I', kept);
        EXECUTE format(
            'CREATE VIEW transport_sim_settled.%1$I AS SELECT * FROM public.%1$I'
            ' WHERE created_at <= (SELECT transport_sim_past.now() - transport_sim_past.lag())',
            kept);
    END LOOP;
END
$$;
"""

# Each table that can be read from outside, and its key.
KEPT = {
    "transport_sim_shipment": "id",
    "transport_sim_stop": "id",
    "transport_sim_quote": "id",
    "transport_sim_booking": "id",
    "transport_sim_outgoingmessage": "id",
    "transport_sim_change": "sequence",
}
TRIGGERS = "".join(
    f"""
CREATE TRIGGER transport_sim_keep AFTER INSERT OR UPDATE ON public.{table}
    FOR EACH ROW EXECUTE FUNCTION transport_sim_past.keep('{key}');
INSERT INTO public.transport_sim_paststate (table_name, record_id, at, record)
    SELECT '{table}', {key}, '-infinity', to_jsonb(kept) FROM public.{table} AS kept;
"""
    for table, key in KEPT.items()
)


class Migration(migrations.Migration):
    """Adds the triggers, the views, and the states that exist already."""

    dependencies = [("transport_sim", "0003_profiles_and_webhooks")]
    operations = [
        migrations.RunSQL(
            FUNCTIONS + TRIGGERS + "SELECT transport_sim_past.show_tables();",
            reverse_sql="DROP SCHEMA transport_sim_past CASCADE;"
            " DROP SCHEMA transport_sim_settled CASCADE;",
        )
    ]
