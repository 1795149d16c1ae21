package sql

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	sqlcode "github.com/candor-mcp/candor/codes/sql"
)

// postgres is a PostgreSQL server.
type postgres struct {
	url            string
	timeout        time.Duration
	allowSuperuser bool
}

func (p *postgres) tables() string {
	return `SELECT table_schema AS schema, table_name AS "table", column_name AS "column", data_type AS type, is_nullable = 'NO' AS "notNull"
		FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
		AND ($1::text IS NULL OR table_name = $1 OR table_schema || '.' || table_name = $1) ORDER BY 1, 2, ordinal_position`
}

// health does not connect, because it must return quickly.
func (p *postgres) health() domain.Health { return domain.Health{OK: true} }

// closeTimeout is the maximum time for closing a connection and for cancelling a statement.
const closeTimeout = 2 * time.Second

func (p *postgres) run(ctx context.Context, st statement, write bool) (*Result, error) {
	if err := checkCommand(st.text); err != nil {
		return nil, err
	}
	c, err := p.begin(ctx, write)
	if err != nil && ctx.Err() != nil {
		return nil, notStarted("the server did not begin a transaction in time", err)
	}
	if err != nil {
		return nil, err
	}
	defer hangUp(c)
	out, err := execute(ctx, c, st, write)
	if err != nil {
		return nil, explainPostgres(ctx, err)
	}
	if !write {
		return out, nil // closing the connection rolls back
	}
	if err := simple(ctx, c, "COMMIT"); err != nil {
		if s := state(err); s != "" && !connectionLost(s) {
			return nil, explainPostgres(ctx, err)
		}
		return nil, domain.Fail(sqlcode.Conn, "the connection broke while committing; check whether the statement took effect", err,
			candor.WithRetry(candor.NoRetry()))
	}
	return out, nil
}

// begin returns a connection with an open transaction. Its errors have codes.
func (p *postgres) begin(ctx context.Context, write bool) (*pgconn.PgConn, error) {
	c, err := p.connect(ctx, write)
	if err != nil {
		return nil, explainConnect(err)
	}
	text := "BEGIN READ ONLY"
	if write {
		text = "BEGIN READ WRITE"
	}
	if err = simple(ctx, c, text); err != nil {
		err = explainPostgres(ctx, err)
	} else {
		err = p.checkRole(ctx, c)
	}
	if err != nil {
		hangUp(c)
		return nil, err
	}
	return c, nil
}

func (p *postgres) connect(ctx context.Context, write bool) (*pgconn.PgConn, error) {
	config, err := pgconn.ParseConfig(p.url)
	if err != nil {
		return nil, err
	}
	limit := strconv.FormatInt(p.timeout.Milliseconds(), 10)
	config.RuntimeParams["application_name"] = "candor"
	config.RuntimeParams["statement_timeout"] = limit // the server stops the statement even if this process has ended
	config.RuntimeParams["idle_in_transaction_session_timeout"] = limit
	if !write {
		config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	// When ctx ends the server is asked to cancel the statement. By default pgconn would only close the connection, and
	// the server would not notice before the end of the statement.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: closeTimeout}
	}
	return pgconn.ConnectConfig(ctx, config)
}

// hangUp closes a connection, which rolls back a transaction that was not committed.
func hangUp(c *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = c.Close(ctx) // the server notices in any case
}

func simple(ctx context.Context, c *pgconn.PgConn, text string) error {
	_, err := c.Exec(ctx, text).ReadAll()
	return err
}

// checkRole refuses roles that can access files and programs of the server. A READ ONLY transaction does not prevent
// that: it allows COPY … TO PROGRAM and pg_read_file.
func (p *postgres) checkRole(ctx context.Context, c *pgconn.PgConn) error {
	if p.allowSuperuser {
		return nil
	}
	const text = `SELECT pg_catalog.bool_or(rolsuper OR rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'))
		FROM pg_catalog.pg_roles WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER')`
	results, err := c.Exec(ctx, text).ReadAll()
	if err != nil {
		return explainPostgres(ctx, err)
	}
	if len(results) == 1 && len(results[0].Rows) == 1 && string(results[0].Rows[0][0]) == "f" {
		return nil
	}
	return domain.Fail(sqlcode.Conn, "the role can reach files and programs of the database server; connect with an ordinary role", nil,
		candor.WithRetry(candor.NoRetry()))
}

// execute runs one statement with the extended protocol, which refuses more than one. Values are sent as text in both
// directions; the server knows the types.
func execute(ctx context.Context, c *pgconn.PgConn, st statement, write bool) (*Result, error) {
	prepared, err := c.Prepare(ctx, "", st.text, nil)
	if err != nil {
		return nil, err
	}
	if err := checkParams(len(prepared.ParamOIDs), len(st.params)); err != nil {
		return nil, err
	}
	rows := c.ExecPrepared(ctx, "", encode(st.params), nil, nil)
	out := collector{limit: st.rows, result: Result{Rows: [][]any{}, Columns: []Column{}}}
	fields := rows.FieldDescriptions()
	for i := range fields {
		out.result.Columns = append(out.result.Columns, Column{Name: fields[i].Name, Type: typeNames[fields[i].DataTypeOID]})
	}
	cancelled, err := collect(c, rows, &out, write)
	tag, closeErr := rows.Close()
	switch {
	case err != nil:
		return nil, err
	case closeErr != nil && !(cancelled && state(closeErr) == stateCancelled):
		return nil, closeErr
	}
	if write {
		n := tag.RowsAffected()
		out.result.Affected = &n
	}
	return &out.result, nil
}

// encode returns parameters as text; nil is NULL.
func encode(params []param) [][]byte {
	values := make([][]byte, len(params))
	for i, p := range params {
		switch v := p.value.(type) {
		case nil:
		case bool:
			values[i] = strconv.AppendBool(nil, v)
		case string:
			values[i] = []byte(v)
		case json.Number:
			values[i] = []byte(v)
		}
	}
	return values
}

// collect reads rows until a limit is reached. It then cancels a statement that only reads; one that writes must run to
// its end.
func collect(c *pgconn.PgConn, rows *pgconn.ResultReader, out *collector, write bool) (cancelled bool, err error) {
	for rows.NextRow() {
		if err == nil && !out.full() {
			fields, values := rows.FieldDescriptions(), rows.Values()
			row, size := make([]any, len(values)), 0
			for i, v := range values {
				row[i], size = decode(fields[i].DataTypeOID, v), size+len(v)
			}
			err = out.add(row, size)
		}
		if (err != nil || out.result.Truncated) && !write && !cancelled {
			cancelled = true
			ctx, done := context.WithTimeout(context.Background(), closeTimeout)
			_ = c.CancelRequest(ctx) // otherwise the deadline of the call ends it
			done()
		}
	}
	return cancelled, err
}

// Numbers of built-in types, from pg_type.dat.
const (
	oidBool, oidBytea, oidInt8, oidInt2, oidInt4, oidJSON, oidFloat4, oidFloat8, oidJSONB = 16, 17, 20, 21, 23, 114, 700, 701, 3802
)

var typeNames = map[uint32]string{
	oidBool: "boolean", oidBytea: "bytea", oidInt8: "bigint", oidInt2: "smallint", oidInt4: "integer", oidJSON: "json", oidFloat4: "real",
	oidFloat8: "double precision", oidJSONB: "jsonb", 25: "text", 1043: "character varying", 1082: "date", 1114: "timestamp",
	1184: "timestamp with time zone", 1700: "numeric", 2950: "uuid",
}

// decode converts the text of a value to JSON.
func decode(oid uint32, text []byte) any {
	if text == nil {
		return nil
	}
	s := string(text)
	switch oid {
	case oidBool:
		return s == "t"
	case oidInt2, oidInt4, oidInt8:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return integer(n)
		}
	case oidFloat4, oidFloat8:
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return float(f)
		}
	case oidBytea:
		if b, err := hex.DecodeString(strings.TrimPrefix(s, `\x`)); err == nil {
			return Binary{b}
		}
	case oidJSON, oidJSONB:
		if json.Valid([]byte(s)) {
			return json.RawMessage(s)
		}
	}
	if !utf8.ValidString(s) {
		return Binary{[]byte(s)}
	}
	return s
}

// float returns a number, or a string for values that JSON numbers cannot represent.
func float(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}

const stateCancelled = "57014"

// state returns the SQLSTATE of an error, "" if it is not from the server.
func state(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// explainConnect classifies a connection error. The text of the server stays in the cause.
func explainConnect(err error) error {
	details, retry := "the server cannot be reached", candor.RetryIn(time.Second)
	switch s := state(err); {
	case strings.HasPrefix(s, "28"):
		details, retry = "the server does not accept the user or the password", candor.NoRetry()
	case s == "3D000":
		details, retry = "the database does not exist", candor.NoRetry()
	case s != "":
		details = "the server refuses connections now, SQLSTATE " + s
	}
	return domain.Fail(sqlcode.Conn, details, err, candor.WithRetry(retry))
}

// explainPostgres converts an error of a statement to one with a code.
func explainPostgres(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*candor.Error](err); ok {
		return err
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok && ctx.Err() != nil:
		return timeout(err)
	case !ok:
		// The transaction of a broken connection is rolled back.
		return domain.Fail(sqlcode.Conn, "the connection broke", err)
	case e.Code == stateCancelled:
		return timeout(err)
	case e.Code == "53100":
		return domain.Fail(candor.CodeDiskFull, "nothing was changed", err)
	case connectionLost(e.Code):
		return domain.Fail(sqlcode.Conn, "the server ended the connection", err)
	}
	return rejected(rejection{Message: e.Message, Position: int(e.Position), State: e.Code, Hint: e.Hint}, err)
}

// connectionLost reports whether a SQLSTATE means that the connection is lost. The server may send it after it has
// committed.
func connectionLost(state string) bool {
	return strings.HasPrefix(state, "57P") || strings.HasPrefix(state, "08")
}
