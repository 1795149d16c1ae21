package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/candor-mcp/candor"
)

// states are codes for SQLSTATEs by prefix; the longest one counts.
var states = map[string]candor.Code{
	"08": candor.CodeUnavailable, "25006": candor.CodeUnavailable, "40": candor.CodeUnavailable, "53": candor.CodeUnavailable,
	"53100": candor.CodeDiskFull, "55": candor.CodeUnavailable, "57": candor.CodeUnavailable, "57014": candor.CodeTimeout, "58": candor.CodeUnavailable,
	"28": candor.CodeUnauthenticated, "42501": candor.CodePermissionDenied,
	"22": candor.CodeInvalidArguments, "23505": candor.CodeDataCorrupt, "XX001": candor.CodeDataCorrupt, "XX002": candor.CodeDataCorrupt,
	"3F000": candor.CodePreconditionFailed, "42883": candor.CodePreconditionFailed, "42P01": candor.CodePreconditionFailed,
	"3D000": candor.CodePreconditionFailed,
}

// storeError returns an error of the driver as a candor error. Texts of the server name roles and objects; pgx keeps passwords out of its own.
func storeError(err error) error {
	if err == nil {
		return nil
	}
	if known := (*candor.Error)(nil); errors.As(err, &known) {
		return err
	}
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, context.Canceled):
		return coded(candor.CodeCancelled, "The call to PostgreSQL was cancelled.", err)
	case errors.As(err, &refused):
		return coded(codeOf(refused.Code), "PostgreSQL: "+strings.TrimSuffix(refused.Message, ".")+".", err)
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return coded(candor.CodeTimeout, "PostgreSQL did not answer in time.", err)
	}
	return coded(candor.CodeUnavailable, "PostgreSQL is not available.", err)
}

// hints are what to do about an error, for commands.
var hints = map[candor.Code]string{
	candor.CodePreconditionFailed: "the database has not been set up as a store; an operator runs candor fleet setup URL",
	candor.CodeUnauthenticated:    "check the role in the URL, passfile or sslcert, and pg_hba.conf on the server",
	candor.CodePermissionDenied:   "candor fleet join prints the rights that a node needs",
	candor.CodeUnavailable:        "check the URL and that the server is running",
	candor.CodeDiskFull:           "free space, or raise the limit with candor fleet setup --max-bytes",
}

func coded(code candor.Code, message string, err error) error {
	if hint, ok := hints[code]; ok {
		err = fmt.Errorf("%w (hint: %s)", err, hint)
	}
	return candor.New(code, message, candor.WithCause(err))
}

func codeOf(state string) candor.Code {
	for n := len(state); n > 0; n-- {
		if code, ok := states[state[:n]]; ok {
			return code
		}
	}
	return candor.CodeInternalError
}

// keepWarning keeps the last warning of a connection, see [store.durably].
func keepWarning(conn *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warningKey] = notice.Message
	}
}

const warningKey = "candor.warning"
