package store

import (
	"fmt"
	"strings"
)

// DamagedError is a row that does not hold what this package writes.
type DamagedError struct {
	Table  string `json:"table"`
	Row    string `json:"row"` // its id
	Reason string `json:"reason"`
}

// Error names the row.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("row %q of %s is damaged: %s", e.Row, e.Table, e.Reason)
}

// scanError returns the error of reading a row: [ErrNotFound] without a row, or a [DamagedError] if a value has the wrong type.
func scanError(err error, table, row string) error {
	if err != nil && strings.HasPrefix(err.Error(), "sql: Scan error") {
		return &DamagedError{table, row, "a value has the wrong type"}
	}
	return notFound(err)
}
