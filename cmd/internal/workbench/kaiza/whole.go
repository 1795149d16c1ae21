package kaiza

import (
	"math"
	"strconv"
)

// whole is a whole number however it is written: a schema takes 5.0 and 5e0 for integers, as some programs write them, and Go does not.
// One that is too large for anything here is the largest.
type whole int

// UnmarshalJSON reads a number that has passed the schema.
func (w *whole) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return err
	}
	*w = whole(max(min(n, math.MaxInt32), math.MinInt32))
	return nil
}
