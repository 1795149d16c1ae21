package pgstore

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

//go:embed schema.sql
var schema string

// The roles of a store. None can log in: an operator grants them.
var roles = []string{"candor_owner", "candor_nodes", "candor_reader", "candor_operator"}

// Setup creates the roles, the tables and the functions in one transaction, and sets their rights again if they exist. It needs CREATEROLE
// and the right to create a schema. The number of copies is not set here: it is a setting of the server, see [store.Durability].
func (s *store) Setup(ctx context.Context, o fleet.SetupOptions) error {
	var err error
	for range 3 { // two operators at the same time disturb each other, and the second one finds everything done
		if err = s.setupOnce(ctx, o); err == nil || !isRace(err) {
			break
		}
	}
	return storeError(err)
}

// isRace reports whether another session created or changed the same object.
func isRace(err error) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.Code {
	case "23505", "42710", "42P06", "42P07", "40001", "40P01":
		return true
	case "XX000": // "tuple concurrently updated"
		return true
	}
	return false
}

func (s *store) setupOnce(ctx context.Context, o fleet.SetupOptions) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// Functions are checked when they are created, with the objects that this path finds.
		if _, err := tx.Exec(ctx, "SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL lock_timeout = '10s'"); err != nil {
			return err
		}
		if err := createRoles(ctx, tx); err != nil {
			return err
		}
		leave, err := actAsOwner(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, schema); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE candor.settings SET max_bytes = $1 WHERE $1 > 0 AND max_bytes <> $1", o.MaxBytes); err != nil {
			return err
		}
		return leave()
	})
}

func createRoles(ctx context.Context, tx pgx.Tx) error {
	for _, role := range roles {
		var exists bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role).Scan(&exists); err != nil {
			return err
		}
		if exists {
			continue
		}
		if _, err := tx.Exec(ctx, "CREATE ROLE "+role+" NOLOGIN"); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, "GRANT candor_reader TO candor_operator"); err != nil {
		return err
	}
	// With this right candor.server sees the names of the standbys. Only a superuser can give it, and without it only quorum is refused.
	_, err := try(ctx, tx, "GRANT pg_read_all_stats TO candor_owner")
	return err
}

// try executes a statement that may fail for lack of rights, and reports whether it was executed.
func try(ctx context.Context, tx pgx.Tx, statement string) (bool, error) {
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, statement)
		return err
	})
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42501" {
		return false, nil
	}
	return err == nil, err
}

// actAsOwner creates the schema and continues as its owner. The returned function ends that, and takes back a membership that was needed for
// it.
func actAsOwner(ctx context.Context, tx pgx.Tx) (leave func() error, err error) {
	var me, owner string
	if err := tx.QueryRow(ctx, "SELECT current_user, coalesce((SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'candor'), '')").Scan(&me, &owner); err != nil {
		return nil, err
	}
	if owner != "" && owner != "candor_owner" {
		return nil, candor.New(candor.CodePreconditionFailed,
			fmt.Sprintf("The database has a schema candor that belongs to %s and not to candor_owner. Use another database, or rename that schema.", owner))
	}
	name := pgx.Identifier{me}.Sanitize()
	member, err := try(ctx, tx, "SET LOCAL ROLE candor_owner")
	if err != nil {
		return nil, err
	}
	if !member {
		if _, err := tx.Exec(ctx, "GRANT candor_owner TO "+name); err != nil {
			return nil, err
		}
	}
	if _, err := tx.Exec(ctx, "RESET ROLE; CREATE SCHEMA IF NOT EXISTS candor AUTHORIZATION candor_owner; SET LOCAL ROLE candor_owner"); err != nil {
		return nil, err
	}
	return func() error {
		statements := "RESET ROLE"
		if !member {
			statements += "; REVOKE candor_owner FROM " + name
		}
		_, err := tx.Exec(ctx, statements)
		return err
	}, nil
}
