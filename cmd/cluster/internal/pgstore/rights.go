package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// maxRole is the length at which PostgreSQL cuts the name of a role.
const maxRole = 63

// roleOf returns the role of a node. A name that PostgreSQL would cut could be that of two nodes.
func roleOf(node string) (string, error) {
	role := rolePrefix + node
	if !fleet.ValidNode(node) {
		return "", candor.New(candor.CodeInvalidArguments, fmt.Sprintf("%q is not the name of a node.", node))
	}
	if len(role) > maxRole {
		return "", candor.New(candor.CodeInvalidArguments,
			fmt.Sprintf("The name of the node is too long for a role of PostgreSQL. Use at most %d characters.", maxRole-len(rolePrefix)))
	}
	return role, nil
}

// Grant returns SQL for psql.
func (s *store) Grant(node string) (string, error) {
	role, err := roleOf(node)
	if err != nil {
		return "", err
	}
	name, database := pgx.Identifier{role}.Sanitize(), pgx.Identifier{s.config.ConnConfig.Database}.Sanitize()
	return fmt.Sprintf(`-- Run this with psql as an administrator, in the database of the store.
CREATE ROLE %[1]s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 16;
GRANT CONNECT ON DATABASE %[2]s TO %[1]s;
GRANT candor_nodes TO %[1]s;
-- The node proves who it is with a client certificate whose common name is %[3]s (sslcert=FILE&sslkey=FILE in its URL), and this
-- line in pg_hba.conf:
--   hostssl %[2]s %[1]s all cert
-- or with a password from a file (passfile=FILE in its URL). psql asks for it and sends only its hash:
--   \password %[1]s
`, name, database, role), nil
}

// right is something that a node must, or must not, be able to do. The statement is rolled back.
type right struct {
	what      string
	want      bool
	statement string
	args      []any
}

func rightsOf(node string) []right {
	const chain = "rights-check"
	other := "another-node"
	if node == other {
		other = "yet-another-node"
	}
	line, none := []byte("not an entry"), make([]byte, 32)
	return []right{
		{"append to a chain of its own", true, "SELECT stored FROM candor.append($1, 0, $2, ARRAY[$3::bytea])", []any{chain, none, line}},
		{"read a chain of its own", true, "SELECT candor.chain_end($1, $2)", []any{node, chain}},
		{"append to a chain of another node", false, "SELECT stored FROM candor.append_as($1, $2, 0, $3, ARRAY[$4::bytea])", []any{other, chain, none, line}},
		{"read a chain of another node", false, "SELECT candor.chain_end($1, $2)", []any{other, chain}},
		{"remove entries", false, "SELECT candor.remove($1, $2, 0)::text", []any{node, chain}},
		{"call internal functions", false, "SELECT candor.append_to($1, $2, 0, $3, ARRAY[$4::bytea])::text", []any{other, chain, none, line}},
		{"read the tables", false, "SELECT FROM candor.lines LIMIT 0", nil},
		{"insert into the tables", false, "INSERT INTO candor.lines (chain, position, line) VALUES (0, 0, '')", nil},
		{"update the tables", false, "UPDATE candor.lines SET line = '' WHERE false", nil},
		{"update the list of chains", false, "UPDATE candor.chains SET position = 0 WHERE false", nil},
		{"delete from the tables", false, "DELETE FROM candor.lines WHERE false", nil},
		{"lock the tables", false, "LOCK TABLE candor.lines IN SHARE MODE", nil},
		{"truncate the tables", false, "TRUNCATE candor.lines", nil},
		{"drop the tables", false, "DROP TABLE candor.lines", nil},
		{"switch off triggers", false, "ALTER TABLE candor.lines DISABLE TRIGGER ALL", nil},
		{"drop the schema", false, "DROP SCHEMA candor CASCADE", nil},
		{"create objects in the schema", false, "CREATE TABLE candor.rights_check ()", nil},
		{"replace a function", false, "CREATE OR REPLACE FUNCTION candor.own_node() RETURNS text LANGUAGE sql AS $$ SELECT '' $$", nil},
		{"act as the owner", false, "SET LOCAL ROLE candor_owner", nil},
		{"act as an operator", false, "SET LOCAL ROLE candor_operator", nil},
		{"act as a reader of all chains", false, "SET LOCAL ROLE candor_reader", nil},
		{"log in as another role", false, "SET LOCAL SESSION AUTHORIZATION candor_owner", nil},
		{"switch off constraints", false, "SET LOCAL session_replication_role = replica", nil},
		{"create roles", false, "CREATE ROLE candor_rights_check", nil},
	}
}

// CheckRights executes each statement in a transaction that it rolls back.
func (s *store) CheckRights(ctx context.Context, node string) ([]fleet.RightCheck, error) {
	role, err := roleOf(node)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	checks := []fleet.RightCheck{{What: "log in as " + role, Allowed: s.role == role, Want: true}}
	if s.role != role {
		checks[0].Detail = "the role is " + s.role
	}
	for _, r := range rightsOf(node) {
		check, err := s.tryRight(ctx, r)
		if err != nil {
			return nil, err
		}
		checks = append(checks, check)
	}
	return checks, nil
}

var errRollback = errors.New("the transaction is rolled back")

// tryRight counts only a lack of rights as a refusal: an error of another kind may not occur the next time.
func (s *store) tryRight(ctx context.Context, r right) (fleet.RightCheck, error) {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '1s'"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, r.statement, r.args...); err != nil {
			return err
		}
		return errRollback
	})
	check := fleet.RightCheck{What: r.what, Want: r.want, Allowed: true}
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, errRollback):
		return check, nil
	case !errors.As(err, &refused), codeOf(refused.Code) == candor.CodePreconditionFailed:
		return check, storeError(err)
	}
	check.Allowed = !r.want && refused.Code != "42501"
	check.Detail = refused.Message
	return check, nil
}
