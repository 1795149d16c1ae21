-- The tables and functions of a store. Setup runs this text as the role candor_owner, which cannot log in.
--
-- No role but the owner has a right to change a table. Nodes have no right on the tables at all: they call the functions below that are
-- SECURITY DEFINER. These run with the rights of the owner, name every object with its schema, and have a fixed search_path with pg_temp last,
-- so that objects that a session creates are never used. The other functions can be called by these only, with the same search_path.
-- The node is always taken from session_user, the role that has logged in, which SET ROLE does not change.
--
-- What the functions trust: nothing that a client says about stored entries. The head of a chain is read from its last line. The content of
-- new lines is not checked here: hashes, links and signatures are checked by the verifier, and a node can spoil its own chains only.

CREATE TABLE IF NOT EXISTS candor.chains (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node     text COLLATE "C" NOT NULL,
    name     text COLLATE "C" NOT NULL,
    position bigint NOT NULL DEFAULT 0, -- of the last line that was appended; numbers the lines, and is no evidence of them
    bytes    bigint NOT NULL DEFAULT 256, -- for the limit in settings: of this row, and of each line with 64 bytes for its row
    UNIQUE (node, name)
);

CREATE TABLE IF NOT EXISTS candor.lines (
    chain    bigint NOT NULL, -- id in chains; without a foreign key, whose check of every row would cost more than storing it
    position bigint NOT NULL,
    line     bytea NOT NULL,
    PRIMARY KEY (chain, position)
);

CREATE TABLE IF NOT EXISTS candor.settings (
    one       boolean PRIMARY KEY DEFAULT true CHECK (one),
    max_bytes bigint NOT NULL DEFAULT 0 -- 0 means no limit
);
INSERT INTO candor.settings DEFAULT VALUES ON CONFLICT DO NOTHING;

-- own_node returns the node of the session, or null.
CREATE OR REPLACE FUNCTION candor.own_node() RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN left(session_user::text, 12) = 'candor_node_' THEN substr(session_user::text, 13) END
$$;

-- may_read reports whether the session may read the chains of a node.
CREATE OR REPLACE FUNCTION candor.may_read(of_node text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT coalesce(of_node = candor.own_node(), false) OR pg_has_role(session_user, 'candor_reader', 'MEMBER')
$$;

CREATE OR REPLACE FUNCTION candor.check_reader(of_node text) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT candor.may_read(of_node) THEN
        RAISE insufficient_privilege USING MESSAGE = format('role %s may not read the chains of node %s', session_user, left(of_node, 64));
    END IF;
END
$$;

-- make_durable makes the end of the transaction wait until all that was committed before is as durable as the server is configured for.
-- A row can be visible without that: after a crash, or if the wait of its transaction was cancelled. The server reports a cancelled wait
-- only by a warning, which a role could have switched off.
CREATE OR REPLACE FUNCTION candor.make_durable() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM candor.wait_at_commit();
    PERFORM pg_logical_emit_message(true, 'candor', '');
END
$$;

CREATE OR REPLACE FUNCTION candor.wait_at_commit() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('synchronous_commit') <> 'remote_apply' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM set_config('client_min_messages', 'warning', true);
END
$$;

-- is_head reports whether a line is the entry with this number and hash.
CREATE OR REPLACE FUNCTION candor.is_head(line bytea, of_chain text, seq bigint, hash bytea) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    start bytea := convert_to(format('{"v":1,"chain":"%s","seq":%s,', of_chain, seq), 'UTF8');
    tail  bytea := convert_to(format(',"hash":"%s"}', encode(hash, 'hex')), 'UTF8');
BEGIN
    IF line IS NULL THEN
        RETURN seq = 0 AND hash = decode(repeat('00', 32), 'hex');
    END IF;
    RETURN substr(line, 1, length(start)) = start AND substr(line, greatest(1, length(line) - length(tail) + 1)) = tail;
END
$$;

CREATE OR REPLACE FUNCTION candor.check_input(of_node text, of_chain text, lines bytea[]) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF of_node IS NULL OR of_node !~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$' THEN
        RAISE insufficient_privilege USING MESSAGE = format('role %s is not the role of a node', session_user);
    END IF;
    IF of_chain IS NULL OR of_chain !~ '^[A-Za-z0-9-]{1,100}$' THEN
        RAISE invalid_parameter_value USING MESSAGE = 'not the name of a chain';
    END IF;
    IF lines IS NULL OR coalesce(array_ndims(lines), 1) <> 1 OR cardinality(lines) NOT BETWEEN 1 AND 65536 THEN
        RAISE invalid_parameter_value USING MESSAGE = 'no lines, too many lines, or not a list of lines';
    END IF;
    IF EXISTS (SELECT FROM unnest(lines) AS u (line) WHERE line IS NULL OR length(line) NOT BETWEEN 1 AND 2097152 OR position(decode('0a', 'hex') IN line) > 0) THEN
        RAISE invalid_parameter_value USING MESSAGE = 'a line is empty, longer than 2 MiB or contains a line feed';
    END IF;
END
$$;

-- check_space refuses new lines at the limit. The size on the disk also counts space that is free inside the files, so the sizes of the
-- chains decide where it exceeds the limit.
CREATE OR REPLACE FUNCTION candor.check_space(more bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    top bigint := (SELECT max_bytes FROM candor.settings);
BEGIN
    IF top > 0 AND pg_total_relation_size('candor.lines') + more > top AND (SELECT sum(bytes) FROM candor.chains) + more > top THEN
        RAISE disk_full USING MESSAGE = format('the store has reached its limit of %s bytes', top);
    END IF;
END
$$;

-- append_to adds lines to a chain if its last line is the expected one. Otherwise it adds none and returns the last line, or null for a
-- chain without lines.
CREATE OR REPLACE FUNCTION candor.append_to(of_node text, of_chain text, expected_seq bigint, expected_hash bytea, lines bytea[],
    OUT stored boolean, OUT head bytea)
LANGUAGE plpgsql AS $$
DECLARE
    own  candor.chains;
    more bigint := (SELECT coalesce(sum(length(u.line) + 64), 0) FROM unnest(lines) AS u (line));
BEGIN
    PERFORM candor.check_input(of_node, of_chain, lines);
    SELECT * INTO own FROM candor.chains c WHERE c.node = of_node AND c.name = of_chain FOR UPDATE;
    IF NOT FOUND AND expected_seq = 0 THEN
        INSERT INTO candor.chains (node, name) VALUES (of_node, of_chain) ON CONFLICT DO NOTHING;
        SELECT * INTO own FROM candor.chains c WHERE c.node = of_node AND c.name = of_chain FOR UPDATE;
    END IF;
    -- This statement sees what was committed while the one above waited for the row.
    SELECT l.line INTO head FROM candor.lines l WHERE l.chain = own.id ORDER BY l.position DESC LIMIT 1;
    stored := candor.is_head(head, of_chain, expected_seq, expected_hash) IS TRUE;
    IF NOT stored THEN
        PERFORM candor.make_durable();
        RETURN;
    END IF;
    PERFORM candor.check_space(more);
    INSERT INTO candor.lines (chain, position, line)
        SELECT own.id, own.position + u.n, u.line FROM unnest(lines) WITH ORDINALITY AS u (line, n);
    UPDATE candor.chains c SET position = own.position + cardinality(lines), bytes = own.bytes + more WHERE c.id = own.id;
    head := NULL;
    PERFORM candor.wait_at_commit();
END
$$;

-- append adds lines to a chain of the node that has logged in.
CREATE OR REPLACE FUNCTION candor.append(chain text, expected_seq bigint, expected_hash bytea, lines bytea[], OUT stored boolean, OUT head bytea)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.stored, a.head FROM candor.append_to(candor.own_node(), chain, expected_seq, expected_hash, lines) AS a
$$;

-- append_as adds lines to a chain of any node, for an operator who copies a store.
CREATE OR REPLACE FUNCTION candor.append_as(node text, chain text, expected_seq bigint, expected_hash bytea, lines bytea[], OUT stored boolean, OUT head bytea)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.stored, a.head FROM candor.append_to(node, chain, expected_seq, expected_hash, lines) AS a
$$;

-- head returns the last line of a chain, and makes it durable.
CREATE OR REPLACE FUNCTION candor.head(node text, chain text) RETURNS bytea
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found bytea;
BEGIN
    PERFORM candor.check_reader(node);
    SELECT l.line INTO found FROM candor.lines l
        WHERE l.chain = (SELECT c.id FROM candor.chains c WHERE c.node = head.node AND c.name = head.chain)
        ORDER BY l.position DESC LIMIT 1;
    PERFORM candor.make_durable();
    RETURN found;
END
$$;

-- chain_list returns the chains that have lines and that the session may read.
CREATE OR REPLACE FUNCTION candor.chain_list() RETURNS TABLE (node text, name text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.node, c.name FROM candor.chains c
    WHERE EXISTS (SELECT FROM candor.lines l WHERE l.chain = c.id)
        AND (c.node = candor.own_node() OR pg_has_role(session_user, 'candor_reader', 'MEMBER'))
    ORDER BY c.node, c.name
$$;

-- chain_end returns the position of the last line of a chain.
CREATE OR REPLACE FUNCTION candor.chain_end(node text, chain text) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM candor.check_reader(node);
    RETURN (SELECT max(l.position) FROM candor.lines l
        WHERE l.chain = (SELECT c.id FROM candor.chains c WHERE c.node = chain_end.node AND c.name = chain_end.chain));
END
$$;

-- page returns the next lines of a chain: about 1 MiB, and at least one line.
CREATE OR REPLACE FUNCTION candor.page(node text, chain text, after bigint, through bigint) RETURNS TABLE (at bigint, content bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own bigint := (SELECT c.id FROM candor.chains c WHERE c.node = page.node AND c.name = page.chain);
BEGIN
    PERFORM candor.check_reader(node);
    RETURN QUERY
        SELECT p.position, p.line FROM (
            SELECT n.position, n.line, sum(length(n.line)) OVER (ORDER BY n.position) AS total FROM (
                SELECT l.position, l.line FROM candor.lines l
                WHERE l.chain = own AND l.position > after AND l.position <= through
                ORDER BY l.position LIMIT 1000) n) p
        WHERE p.total - length(p.line) < 1048576
        ORDER BY p.position;
END
$$;

-- seq_of returns the number of an entry, or null for other bytes.
CREATE OR REPLACE FUNCTION candor.seq_of(line bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT substring(encode(substr(line, 1, 256), 'escape') FROM '^[{]"v":1,"chain":"[A-Za-z0-9-]+","seq":([1-9][0-9]{0,17}),')::bigint
$$;

-- remove removes the entries of a chain up to a number. Lines without a number stay.
CREATE OR REPLACE FUNCTION candor.remove(node text, chain text, through bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own     bigint;
    first   candor.lines;
    last_at bigint;
BEGIN
    SELECT c.id INTO own FROM candor.chains c WHERE c.node = remove.node AND c.name = remove.chain FOR UPDATE;
    SELECT * INTO first FROM candor.lines l WHERE l.chain = own ORDER BY l.position LIMIT 1;
    -- In the chain of an honest node numbers and positions have a fixed distance, which saves reading every line.
    SELECT l.position INTO last_at FROM candor.lines l
        WHERE l.chain = own AND l.position = first.position + through - candor.seq_of(first.line) AND candor.seq_of(l.line) = through;
    WITH gone AS (
        DELETE FROM candor.lines l
        WHERE l.chain = own AND (l.position <= last_at OR last_at IS NULL) AND candor.seq_of(l.line) <= through
        RETURNING length(l.line) + 64 AS size)
    UPDATE candor.chains c SET bytes = c.bytes - (SELECT coalesce(sum(size), 0) FROM gone) WHERE c.id = own;
    PERFORM candor.wait_at_commit();
END
$$;

-- server_settings returns the settings that durability depends on.
CREATE OR REPLACE FUNCTION candor.server_settings(OUT fsync boolean, OUT full_pages boolean, OUT permanent boolean, OUT standby_names text,
    OUT standbys text[], OUT visible boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT current_setting('fsync')::boolean, current_setting('full_page_writes')::boolean,
        (SELECT bool_and(r.relpersistence = 'p') FROM pg_class r WHERE r.oid IN ('candor.lines'::regclass, 'candor.chains'::regclass)),
        current_setting('synchronous_standby_names'),
        (SELECT coalesce(array_agg(w.application_name), '{}') FROM pg_stat_replication w WHERE w.state = 'streaming'),
        pg_has_role('candor_owner', 'pg_read_all_stats', 'USAGE')
$$;

REVOKE ALL ON SCHEMA candor FROM PUBLIC, candor_nodes, candor_reader, candor_operator;
REVOKE ALL ON ALL TABLES IN SCHEMA candor FROM PUBLIC, candor_nodes, candor_reader, candor_operator;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA candor FROM PUBLIC, candor_nodes, candor_reader, candor_operator;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA candor FROM PUBLIC, candor_nodes, candor_reader, candor_operator;
GRANT USAGE ON SCHEMA candor TO candor_nodes, candor_reader, candor_operator;
GRANT SELECT ON candor.chains, candor.lines TO candor_reader;
GRANT EXECUTE ON FUNCTION candor.append(text, bigint, bytea, bytea[]) TO candor_nodes;
GRANT EXECUTE ON FUNCTION candor.append_as(text, text, bigint, bytea, bytea[]), candor.remove(text, text, bigint) TO candor_operator;
GRANT EXECUTE ON FUNCTION candor.head(text, text), candor.chain_list(), candor.chain_end(text, text), candor.page(text, text, bigint, bigint),
    candor.server_settings() TO candor_nodes, candor_reader, candor_operator;
