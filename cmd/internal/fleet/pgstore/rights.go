package pgstore

import (
	"fmt"

	"github.com/jackc/pgx/v5"

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
