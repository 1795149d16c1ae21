// Package kg is the kg domain of the harness: a knowledge graph of subject, predicate and object triples.
//
// The triples are kept in a SQLite database. A triple is durable when its addition is answered: it survives a crash of
// the process and of the machine. Several processes may use the same database.
package kg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	kgcode "github.com/candor-mcp/candor/codes/kg"
)

// Name is the name of the domain in the catalogue.
const Name = "kg"

// Limits of the domain.
const (
	defaultMaxTriples = 100_000
	maxMaxTriples     = 10_000_000
	maxPart           = 4096 // bytes of a subject, predicate or object
	maxResults        = 1000
	maxBytes          = 1 << 20 // of the triples in one answer
	defaultResults    = 100
)

// graph is a knowledge graph.
type graph struct {
	file  string
	limit int

	mu     sync.Mutex
	db     *sql.DB // nil until it is first needed
	opened fs.FileInfo
	closed bool
}

// Open returns the domain. MCP_KG_FILE names the database, by default a file below the state directory, which the first call creates.
// MCP_KG_MAX_TRIPLES limits its size.
func Open(env domain.Environment) (domain.Domain, error) {
	v := domain.Variables{Getenv: env.Getenv, Private: env.Private}
	g := &graph{file: v.Path("MCP_KG_FILE"), limit: v.Number("MCP_KG_MAX_TRIPLES", defaultMaxTriples, 1, maxMaxTriples)}
	if g.file == "" {
		g.file = filepath.Join(env.State, "kg", "triples.db")
	} else if err := sqlitedb.CheckFile(g.file); err != nil {
		v.Fail("MCP_KG_FILE", "the path of an SQLite database, or of a new file")
	}
	return domain.Domain{
		Name:    Name,
		About:   "Keep facts as subject, predicate and object triples.",
		Methods: g.methods(),
		Health:  g.health,
		Close:   g.close,
	}, v.Err
}

func (g *graph) methods() []domain.Method {
	const triple = `{"subject":{"type":"string","description":"such as Ada Lovelace"},"predicate":{"type":"string","description":"such as wrote"},` +
		`"object":{"type":"string","description":"such as Note G"}}`
	parts := []string{"subject", "predicate", "object"}
	page := fmt.Sprintf(`"limit":{"type":"integer","minimum":1,"maximum":%d,"description":"most triples, %d by default"},`+
		`"cursor":{"type":"string","maxLength":30,"description":"nextCursor of the previous answer"}`, maxResults, defaultResults)
	query := `{"subject":{"type":"string"},"predicate":{"type":"string"},"object":{"type":"string"},` + page + `}`
	failing := []candor.Code{common.Timeout, candor.CodeUnavailable, candor.CodeDataCorrupt, candor.CodeDiskFull} // the first call creates the database
	changing := append(failing, kgcode.InvalidTriple, common.InputTooLarge)
	return []domain.Method{
		{
			Name: "kg/add", About: "Add a triple of three texts. Adding one that is there changes nothing.",
			Input: triple, Required: parts, Codes: append(changing, kgcode.Full), Idempotent: true, Run: domain.Bind(g.add),
		},
		{
			Name: "kg/add_many", About: "Add up to 500 triples, all or none. Those that are there are left as they are.",
			Input:    `{"triples":{"type":"array","minItems":1,"maxItems":500,"items":{"type":"object","required":["subject","predicate","object"],"additionalProperties":false,"properties":` + triple + `}}}`,
			Required: []string{"triples"}, Codes: append(changing, kgcode.Full), Idempotent: true, Run: domain.Bind(g.addMany),
		},
		{
			Name: "kg/search", About: "List triples that have a text in one of their parts, ignoring the case of ASCII letters.",
			Input:    fmt.Sprintf(`{"q":{"type":"string","minLength":1,"maxLength":200,"description":"text to find"},%s}`, page),
			Required: []string{"q"}, Codes: failing, ReadOnly: true, Idempotent: true, Run: domain.Bind(g.query),
		},
		{
			Name: "kg/delete_entity", About: "Delete all triples that have a text as their subject or object.",
			Input:    `{"entity":{"type":"string","minLength":1,"description":"the whole subject or object"}}`,
			Required: []string{"entity"}, Codes: failing, Idempotent: true, Destructive: true, Run: domain.Bind(g.deleteEntity),
		},
		{
			Name: "kg/query", About: "List triples in the order in which they were added, all or those with the given parts.",
			Input: query, Codes: failing, ReadOnly: true, Idempotent: true, Run: domain.Bind(g.query),
		},
		{
			Name: "kg/delete", About: "Delete one triple. Deleting one that is not there changes nothing.",
			Input: triple, Required: parts, Codes: changing, Idempotent: true, Destructive: true, Run: domain.Bind(g.delete),
		},
		{
			Name: "kg/stats", About: "Count triples, and different subjects, predicates and objects.",
			Input: `{}`, Codes: failing, ReadOnly: true, Idempotent: true, Run: domain.Bind(g.stats),
		},
	}
}

// schema creates the tables. Triggers maintain the number of triples, because counting them takes longer as they grow.
const schema = `
CREATE TABLE IF NOT EXISTS triple (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL,
	UNIQUE (subject, predicate, object)
) STRICT;
CREATE INDEX IF NOT EXISTS triple_predicate ON triple (predicate);
CREATE INDEX IF NOT EXISTS triple_object ON triple (object);
CREATE TABLE IF NOT EXISTS total (id INTEGER PRIMARY KEY CHECK (id = 1), triples INTEGER NOT NULL) STRICT;
INSERT OR IGNORE INTO total (id, triples) SELECT 1, count(*) FROM triple;
CREATE TRIGGER IF NOT EXISTS triple_added AFTER INSERT ON triple BEGIN UPDATE total SET triples = triples + 1; END;
CREATE TRIGGER IF NOT EXISTS triple_deleted AFTER DELETE ON triple BEGIN UPDATE total SET triples = triples - 1; END;
`

// open returns the database and creates it if necessary.
func (g *graph) open(ctx context.Context) (*sql.DB, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil, os.ErrClosed
	case g.db != nil:
		if info, err := os.Stat(g.file); err == nil && os.SameFile(info, g.opened) {
			return g.db, nil
		}
		_ = g.db.Close() // the file was removed or replaced
		g.db = nil
	}
	if err := sqlitedb.Create(g.file); err != nil {
		return nil, err
	}
	db, err := sqlitedb.Open(g.file, sqlitedb.Options{})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(8)
	if err := create(ctx, db); err != nil {
		_ = db.Close() // the first error is the relevant one
		return nil, err
	}
	if g.opened, err = os.Stat(g.file); err != nil {
		_ = db.Close()
		return nil, err
	}
	g.db = db
	return db, nil
}

// create creates all tables in one transaction.
func create(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	return tx.Commit()
}

func (g *graph) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.db == nil {
		return nil
	}
	return g.db.Close()
}

// health checks the file and creates nothing: a directory that cannot be created is found by the first call.
func (g *graph) health(context.Context) domain.Health {
	if err := sqlitedb.CheckFile(g.file); err != nil {
		return domain.Health{Details: fmt.Sprintf("the database of the knowledge graph: %s; set MCP_KG_FILE to another path", err)}
	}
	return domain.Health{OK: true}
}

// explain is for deferring. It converts an error of the database to one with a code. An error without one is sent to the client as
// INTERNAL_ERROR.
func (g *graph) explain(ctx context.Context, err *error) {
	switch kind := sqlitedb.KindAt(*err, g.file); {
	case *err == nil:
	case ctx.Err() != nil:
		*err = ctx.Err()
	case kind == sqlitedb.Busy:
		*err = domain.Fail(common.Timeout, "the database is in use by another process; nothing was changed", *err)
	case kind == sqlitedb.Full:
		*err = domain.Fail(candor.CodeDiskFull, "nothing was changed", *err)
	case kind == sqlitedb.Corrupt:
		*err = domain.Fail(candor.CodeDataCorrupt, "the file of the knowledge graph is damaged or not a database; nothing was changed", *err)
	case kind == sqlitedb.CantOpen, kind == sqlitedb.ReadOnly, errors.As(*err, new(*fs.PathError)):
		*err = domain.Fail(candor.CodeUnavailable, "the file of the knowledge graph cannot be opened or written; nothing was changed", *err,
			candor.WithRetry(candor.NoRetry()))
	}
}
