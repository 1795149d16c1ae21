package pgstore

import (
	"context"
	"errors"
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
	cause := candor.WithCause(err)
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, context.Canceled):
		return candor.New(candor.CodeCancelled, "The call to PostgreSQL was cancelled.", cause)
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return candor.New(candor.CodeTimeout, "PostgreSQL did not answer in time.", cause)
	case errors.As(err, &refused):
		return candor.New(codeOf(refused.Code), stateMessage(refused), cause)
	}
	return candor.New(candor.CodeUnavailable, "PostgreSQL is not available: "+err.Error(), cause)
}

func codeOf(state string) candor.Code {
	for n := len(state); n > 0; n-- {
		if code, ok := states[state[:n]]; ok {
			return code
		}
	}
	return candor.CodeInternalError
}

func stateMessage(err *pgconn.PgError) string {
	text := "PostgreSQL: " + strings.TrimSuffix(err.Message, ".") + "."
	if codeOf(err.Code) == candor.CodePreconditionFailed {
		text += " The database has not been set up as a store; an operator runs candor fleet setup."
	}
	return text
}

// keepWarning keeps the last warning of a connection, see [store.durably].
func keepWarning(conn *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warningKey] = notice.Message
	}
}

const warningKey = "candor.warning"
