package store

import "strings"

// conditions collects what the rows of a query must fulfil. A condition that is left out lets SQLite use an index for the others, which
// it cannot for a condition that is made true by a parameter.
type conditions struct {
	parts []string
	args  []any
}

// equal demands a value of a column, unless the value is empty.
func (c *conditions) equal(column, value string) {
	if value != "" {
		c.add(column+" = ?", value)
	}
}

func (c *conditions) add(part string, value any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, value)
}

// where returns the clause, with spaces around it.
func (c *conditions) where() string {
	if len(c.parts) == 0 {
		return " "
	}
	return " WHERE " + strings.Join(c.parts, " AND ") + " "
}
