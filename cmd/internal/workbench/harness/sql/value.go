package sql

import (
	"encoding/json"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	sqlcode "github.com/candor-mcp/candor/codes/sql"
)

// param is a value that is bound to a statement: nil, a bool, a json.Number or a string.
type param struct{ value any }

// UnmarshalJSON keeps the digits of numbers.
func (p *param) UnmarshalJSON(text []byte) error {
	switch text[0] {
	case '{', '[':
		return fmt.Errorf("a parameter must be a text, a number, a boolean or null")
	case '"', 't', 'f', 'n':
		return json.Unmarshal(text, &p.value)
	}
	p.value = json.Number(text)
	return nil
}

// checkParams returns an error if the number of values differs from the number of parameters of the statement.
func checkParams(want, got int) error {
	if want == got {
		return nil
	}
	return domain.Fail(common.InvalidParams, fmt.Sprintf("params: the statement has %d parameters, the call %d values", want, got), nil)
}

// Result is the result of a statement.
type Result struct {
	Columns []Column `json:"columns"`
	// Rows holds the values in the order of the columns. Integers beyond ±2⁵³ and exact decimals are strings, binary
	// values are objects with the member base64.
	Rows      [][]any `json:"rows"`
	Truncated bool    `json:"truncated"`              // there are more rows
	Affected  *int64  `json:"rowsAffected,omitempty"` // for sql/execute
}

// Column is a column of a [Result].
type Column struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"` // as the database names it
}

// Binary is a value that is not text.
type Binary struct {
	Base64 []byte `json:"base64"`
}

const maxExact = 1 << 53 // beyond it a JSON number may lose digits

// integer returns a number, or a string if a JSON number would lose digits.
func integer(n int64) any {
	if n > maxExact || n < -maxExact {
		return fmt.Sprint(n)
	}
	return n
}

// collector adds rows to a result until a limit is reached.
type collector struct {
	result Result
	limit  int
	bytes  int
}

// full reports whether a limit of the result is reached.
func (c *collector) full() bool {
	if len(c.result.Rows) >= c.limit || c.bytes >= maxBytes {
		c.result.Truncated = true
	}
	return c.result.Truncated
}

// add adds a row whose values have size bytes. It returns an error for a single row that is too large, because no
// smaller limit would help.
func (c *collector) add(row []any, size int) error {
	if c.bytes += size; c.bytes > maxBytes && len(c.result.Rows) == 0 {
		return tooLarge(nil)
	}
	if c.bytes > maxBytes {
		c.result.Truncated = true
		return nil
	}
	c.result.Rows = append(c.result.Rows, row)
	return nil
}

func tooLarge(cause error) error {
	return domain.Fail(common.LimitExceeded, fmt.Sprintf("a row or a value is larger than %d bytes; select less of it", maxBytes), cause)
}

// rejection holds the details of E_SQL_QUERY.
type rejection struct {
	Message  string `json:"message"`
	Position int    `json:"position,omitempty"` // of the error in the statement, in characters from 1
	State    string `json:"sqlstate,omitempty"`
	Hint     string `json:"hint,omitempty"`
}

func rejected(r rejection, cause error) error {
	return candor.New(sqlcode.Query, "", candor.WithDetails(r), candor.WithCause(cause))
}
