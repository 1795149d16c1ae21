//go:build unix

package pgstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/cmd/internal/testing/pgtest"
)

// connect returns a plain connection of a role, as a hostile program uses one.
func connect(t testing.TB, server *pgtest.Server, role string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s user=%s dbname=candor sslmode=disable", server.Socket, role))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// state returns the SQLSTATE of an error.
func state(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return fmt.Sprint(err)
}

func TestNodeWritesOnlyItsOwnChains(t *testing.T) {
	server, admin := sharedStore(t)
	victim, thief := addNode(t, server, admin, "victim"), addNode(t, server, admin, "thief")
	chain, lines := storetest.Ledger(t, "victim", 20)
	head := appendLines(t, victim, chain, fleet.Head{}, lines)
	next := storetest.NextLine(chain, head, []byte("forged"))

	wantClass(t, "appending to another node's chain", thief.Append(t.Context(), chain, head, [][]byte{next}), candor.ClassDenied)
	wantClass(t, "beginning a chain of another node", thief.Append(t.Context(), fleet.Chain{Node: "victim", Name: "new"}, fleet.Head{},
		storetest.MakeLines(fleet.Chain{Node: "victim", Name: "new"}, fleet.Head{}, 1, 10)), candor.ClassDenied)
	wantClass(t, "removing another node's entries", thief.Remove(t.Context(), chain, 5), candor.ClassDenied)
	wantClass(t, "removing its own entries", thief.Remove(t.Context(), fleet.Chain{Node: "thief", Name: "c"}, 5), candor.ClassDenied)
	_, err := thief.Head(t.Context(), chain)
	wantClass(t, "reading another node's head", err, candor.ClassDenied)
	for _, err := range thief.Lines(t.Context(), chain, 0) {
		wantClass(t, "reading another node's lines", err, candor.ClassDenied)
	}
	wantClass(t, "setting up", thief.Setup(t.Context(), fleet.SetupOptions{}), candor.ClassDenied)

	// The victim's lines under the thief's own name are stored there, and do not touch the victim's chain.
	copied := fleet.Chain{Node: "thief", Name: chain.Name}
	appendLines(t, thief, copied, fleet.Head{}, lines)
	if chains, err := thief.Chains(t.Context()); err != nil || len(chains) != 1 || chains[0] != copied {
		t.Errorf("the node sees the chains %v, %v", chains, err)
	}
	wantChain(t, admin, chain, lines)
	wantChain(t, victim, chain, lines)
	appendLines(t, victim, chain, head, [][]byte{next})
}

func TestReadersOnlyReadAndOperatorsRemove(t *testing.T) {
	server, admin := sharedStore(t)
	for _, role := range []string{"alice", "bob", "eve"} {
		createRole(t, server, role)
	}
	server.SQL(t, "candor", "GRANT candor_reader TO alice; GRANT candor_operator TO bob")
	reader, operator, stranger := open(t, server, "alice", "candor"), open(t, server, "bob", "candor"), open(t, server, "eve", "candor")
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 10, 100)
	wantClass(t, "a reader's append", reader.Append(t.Context(), chain, fleet.Head{}, lines), candor.ClassDenied)
	head := appendLines(t, operator, chain, fleet.Head{}, lines) // candor ledger copy
	wantChain(t, reader, chain, lines)
	if got, err := reader.Head(t.Context(), chain); err != nil || got != head {
		t.Errorf("a reader's Head: %v, %v", got, err)
	}
	wantClass(t, "a reader's Remove", reader.Remove(t.Context(), chain, 3), candor.ClassDenied)
	if err := operator.Remove(t.Context(), chain, 3); err != nil {
		t.Error(err)
	}
	wantChain(t, reader, chain, lines[3:])
	_, err := stranger.Head(t.Context(), chain)
	wantClass(t, "Head by a role without rights", err, candor.ClassDenied)
	_, err = stranger.Chains(t.Context())
	wantClass(t, "Chains by a role without rights", err, candor.ClassDenied)
	for _, text := range []string{
		"UPDATE candor.lines SET line = ''", "DELETE FROM candor.lines", "TRUNCATE candor.lines", "INSERT INTO candor.lines VALUES (1, 99, '')",
		"DO $$ BEGIN LOCK TABLE candor.lines IN SHARE MODE; END $$", "SELECT * FROM candor.chains FOR UPDATE",
	} {
		for _, role := range []string{"alice", "bob"} {
			if _, err := connect(t, server, role).Exec(t.Context(), text); state(err) != "42501" {
				t.Errorf("%s: %s: %v, want a lack of rights", role, text, err)
			}
		}
	}
	wantChain(t, admin, chain, lines[3:])
}

// TestHostileSessionCannotDeceiveTheFunctions tries the ways in which a session can influence functions that run with the rights of
// another role.
func TestHostileSessionCannotDeceiveTheFunctions(t *testing.T) {
	server, admin := sharedStore(t)
	server.SQL(t, "candor", "GRANT CREATE ON SCHEMA public TO PUBLIC") // as in PostgreSQL 14 and older
	victim := addNode(t, server, admin, "victim")
	addNode(t, server, admin, "thief")
	chain := fleet.Chain{Node: "victim", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 5, 100)
	head := appendLines(t, victim, chain, fleet.Head{}, lines)

	// The expected head is the victim's, so that the call succeeds if a function takes the session for the victim.
	appendOwn := fmt.Sprintf(`SELECT stored FROM candor.append('c', 5, pg_catalog.decode('%x', 'hex'), ARRAY['forged'::pg_catalog.bytea])`, head.Hash)
	for name, attack := range map[string][]string{
		"a temporary table hides a table": {
			"CREATE TEMP TABLE chains (id bigint, node text, name text, position bigint, bytes bigint)",
			"INSERT INTO chains SELECT 1, 'thief', 'c', 0, 0", "SET search_path = pg_temp, candor, public", appendOwn,
		},
		"a function hides own_node": {
			"CREATE FUNCTION public.own_node() RETURNS text LANGUAGE sql AS $$ SELECT 'victim' $$", "SET search_path = public, candor", appendOwn,
		},
		"a temporary function hides a built-in one": {
			"CREATE FUNCTION pg_temp.substr(text, integer) RETURNS text LANGUAGE sql AS $$ SELECT 'victim' $$",
			`CREATE FUNCTION pg_temp."left"(text, integer) RETURNS text LANGUAGE sql AS $$ SELECT 'candor_node_' $$`, "SET search_path = pg_temp, pg_catalog", appendOwn,
		},
		"a function hides a built-in one": {
			"CREATE FUNCTION public.substr(text, integer) RETURNS text LANGUAGE sql AS $$ SELECT 'victim'::text $$", "SET search_path = public, pg_catalog", appendOwn,
		},
		"an operator hides =": {
			"CREATE FUNCTION public.always(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$",
			"CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.always)", "SET search_path = public, pg_catalog", appendOwn,
		},
		"a type hides a row type": {"CREATE TYPE public.chains AS (id bigint)", "SET search_path = public, pg_temp", appendOwn},
		"another role is set":     {"SET ROLE candor_nodes", appendOwn},
		"settings change parsing": {"SET standard_conforming_strings = off", "SET transform_null_equals = on", "SET client_encoding = 'SQL_ASCII'", appendOwn},
		"a transaction is serialisable": {
			"BEGIN ISOLATION LEVEL SERIALIZABLE", appendOwn, "COMMIT",
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, server, "candor_node_thief")
			for _, text := range attack {
				if _, err := conn.Exec(t.Context(), text); err != nil {
					t.Logf("%s: %v", text, err)
				}
			}
			wantChain(t, admin, chain, lines)
			if n := server.SQL(t, "candor", "SELECT count(*) FROM candor.lines l JOIN candor.chains c ON c.id = l.chain WHERE c.node = 'victim'"); n != "5" {
				t.Errorf("the victim has %s lines, want 5", n)
			}
			server.SQL(t, "candor", "DELETE FROM candor.lines l USING candor.chains c WHERE c.id = l.chain AND c.node = 'thief'")
		})
	}
	if err := victim.Append(t.Context(), chain, storetest.HeadOf(t, lines[4]), storetest.MakeLines(chain, storetest.HeadOf(t, lines[4]), 1, 10)); err != nil {
		t.Errorf("the victim cannot append afterwards: %v", err)
	}
}

// TestHostileNodeIsRefused lists what a node that was taken over can send with its own credentials, and how the server answers.
func TestHostileNodeIsRefused(t *testing.T) {
	server, admin := sharedStore(t)
	victim := addNode(t, server, admin, "victim")
	addNode(t, server, admin, "thief")
	chain := fleet.Chain{Node: "victim", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 5, 100)
	head := appendLines(t, victim, chain, fleet.Head{}, lines)
	conn := connect(t, server, "candor_node_thief")
	const call = "SELECT candor.append('c', 0, decode(repeat('00', 32), 'hex'), "
	for name, attack := range map[string]struct{ statement, want string }{
		"update":                    {"UPDATE candor.lines SET line = 'x'", "42501"},
		"delete":                    {"DELETE FROM candor.lines", "42501"},
		"truncate":                  {"TRUNCATE candor.lines, candor.chains", "42501"},
		"drop":                      {"DROP TABLE candor.lines", "42501"},
		"trigger":                   {"CREATE TRIGGER t BEFORE INSERT ON candor.lines FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()", "42501"},
		"rule":                      {"CREATE RULE r AS ON INSERT TO candor.lines DO INSTEAD NOTHING", "42501"},
		"row lock":                  {"SELECT * FROM candor.chains FOR UPDATE", "42501"},
		"table lock":                {"DO $$ BEGIN LOCK TABLE candor.chains IN ACCESS SHARE MODE; END $$", "42501"},
		"setting":                   {"UPDATE candor.settings SET max_bytes = 1", "42501"},
		"sequence":                  {"SELECT setval('candor.chains_id_seq', 1)", "42501"},
		"role of the victim":        {`SET ROLE "candor_node_victim"`, "42501"},
		"identity of the victim":    {`SET SESSION AUTHORIZATION "candor_node_victim"`, "42501"},
		"membership":                {"GRANT candor_operator TO CURRENT_USER", "42501"},
		"own role":                  {`ALTER ROLE "candor_node_thief" RENAME TO "candor_node_victim2"`, "0A000"},
		"function as victim":        {"SELECT candor.append_as('victim', 'c', 0, '', '{}')", "42501"},
		"internal function":         {"SELECT candor.append_to('victim', 'c', 0, '', '{}')", "42501"},
		"sessions of the victim":    {"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'candor_node_victim'", "42501"},
		"files":                     {"COPY candor.lines TO PROGRAM 'cat'", "42501"},
		"server file":               {"SELECT pg_read_file('postgresql.conf')", "42501"},
		"replication":               {"SELECT pg_create_physical_replication_slot('s')", "42501"},
		"chain name":                {"SELECT candor.append('../victim/c', 0, '', '{}')", "22023"},
		"long chain name":           {"SELECT candor.append(repeat('a', 10000000), 0, '', '{}')", "22023"},
		"null chain":                {"SELECT candor.append(NULL, 0, '', '{}')", "22023"},
		"null lines":                {call + "NULL)", "22023"},
		"no lines":                  {call + "'{}')", "22023"},
		"null line":                 {call + "ARRAY[NULL::bytea])", "22023"},
		"table of lines":            {call + "ARRAY[ARRAY['a'::bytea], ARRAY['b'::bytea]])", "22023"},
		"line feed":                 {call + `ARRAY[decode('610a62', 'hex')])`, "22023"},
		"line of 64 MiB":            {call + "ARRAY[decode(repeat('61', 67108864), 'hex')])", "22023"},
		"million lines":             {call + "array_fill('a'::bytea, ARRAY[1000000]))", "22023"},
		"victim's lines":            {"SELECT * FROM candor.page('victim', 'c', 0, 100)", "42501"},
		"victim's head":             {"SELECT candor.head('victim', 'c')", "42501"},
		"sorted page of the victim": {"SELECT * FROM candor.page('victim', 'c', -1, 9223372036854775807)", "42501"},
	} {
		if _, err := conn.Exec(t.Context(), attack.statement); state(err) != attack.want {
			t.Errorf("%s: %v, want SQLSTATE %s", name, err, attack.want)
		}
	}
	wantChain(t, admin, chain, lines)

	// Locks that any role can take do not stop another node.
	for _, text := range []string{
		"BEGIN", "SELECT pg_advisory_xact_lock(n) FROM generate_series(1, 100) n", "SELECT pg_current_xact_id()", "LISTEN candor",
		"SELECT candor.append('open', 0, decode(repeat('00', 32), 'hex'), ARRAY['never committed'::bytea])",
	} {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	more := storetest.MakeLines(chain, head, 3, 100)
	appendLines(t, victim, chain, head, more)
	if err := admin.Setup(t.Context(), fleet.SetupOptions{}); err != nil {
		t.Errorf("Setup while a node has an open transaction: %v", err)
	}
	wantChain(t, admin, chain, append(lines, more...))
}

func TestSetupRefusesASchemaOfAnotherOwner(t *testing.T) {
	server := sharedServer(t)
	createRole(t, server, "mallory")
	server.SQL(t, "candor", "GRANT CREATE ON DATABASE candor TO mallory")
	if _, err := connect(t, server, "mallory").Exec(t.Context(), "CREATE SCHEMA candor CREATE TABLE lines (chain bigint, position bigint, line bytea)"); err != nil {
		t.Fatal(err)
	}
	err := open(t, server, "admin", "candor").Setup(t.Context(), fleet.SetupOptions{})
	wantClass(t, "Setup", err, candor.ClassPrecondition)
}

func TestSetupNeedsNoSuperuser(t *testing.T) {
	server := startServer(t)
	server.SQL(t, "candor", "CREATE ROLE dba LOGIN CREATEROLE; GRANT CREATE ON DATABASE candor TO dba")
	dba := open(t, server, "dba", "candor")
	for range 2 {
		if err := dba.Setup(t.Context(), fleet.SetupOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := server.SQL(t, "candor", "SELECT pg_has_role('dba', 'candor_owner', 'USAGE')"); got != "f" {
		t.Error("the role that ran Setup is still a member of candor_owner")
	}
	chain := fleet.Chain{Node: "web-1", Name: "c"}
	node := addNode(t, server, dba, "web-1")
	appendLines(t, node, chain, fleet.Head{}, storetest.MakeLines(chain, fleet.Head{}, 3, 10))
}

func TestStoreThatIsNotSetUpSaysSo(t *testing.T) {
	server := sharedServer(t)
	store := open(t, server, "admin", "candor")
	_, err := store.Head(t.Context(), fleet.Chain{Node: "n", Name: "c"})
	wantClass(t, "Head", err, candor.ClassPrecondition)
	if !strings.Contains(fmt.Sprint(errors.Unwrap(err)), "candor fleet setup") {
		t.Errorf("%v does not say what to do", err)
	}
	_, err = store.Chains(t.Context())
	wantClass(t, "Chains", err, candor.ClassPrecondition)
}

// randomLines returns 100 KiB that cannot be compressed.
func randomLines(t *testing.T, chain fleet.Chain, head fleet.Head) [][]byte {
	t.Helper()
	var lines [][]byte
	for range 10 {
		body := make([]byte, 5<<10)
		if _, err := rand.Read(body); err != nil {
			t.Fatal(err)
		}
		line := storetest.NextLine(chain, head, fmt.Appendf(nil, "%x", body))
		lines, head = append(lines, line), storetest.HeadOf(t, line)
	}
	return lines
}

func TestStoreRefusesMoreThanItsLimit(t *testing.T) {
	server, admin := sharedStore(t)
	if err := admin.Setup(t.Context(), fleet.SetupOptions{MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	chain, head := fleet.Chain{Node: "n", Name: "c"}, fleet.Head{}
	var err error
	stored := 0
	for range 40 {
		lines := randomLines(t, chain, head)
		if err = admin.Append(t.Context(), chain, head, lines); err != nil {
			break
		}
		head, stored = storetest.HeadOf(t, lines[9]), stored+1
	}
	wantClass(t, "Append at the limit", err, candor.ClassUnavailable)
	if stored < 5 {
		t.Errorf("%d appends of 100 KiB fit into 1 MiB", stored)
	}
	if err := admin.Remove(t.Context(), chain, head.Seq-10); err != nil {
		t.Fatal(err)
	}
	appendLines(t, admin, chain, head, randomLines(t, chain, head)) // removing makes space

	// Short lines and chains count with the space that they need in the tables.
	short := make([][]byte, 20000)
	for i := range short {
		short[i] = []byte("x")
	}
	if _, err := connect(t, server, "admin").Exec(t.Context(), "SELECT candor.append_as('n', 'short', 0, $1, $2)", make([]byte, 32), short); state(err) != "53100" {
		t.Errorf("20000 short lines: %v, want that the store is full", err)
	}
}

func TestGrantRefusesNamesThatPostgreSQLWouldCut(t *testing.T) {
	store := openURL(t, "postgres://localhost/candor?node=n")
	if _, err := store.Grant(strings.Repeat("a", 51)); err != nil {
		t.Error(err)
	}
	_, err := store.Grant(strings.Repeat("a", 52))
	wantClass(t, "Grant", err, candor.ClassBadRequest)
}
