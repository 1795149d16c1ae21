package domain

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// decode decodes parameters into a struct. JSON has several spellings of a whole number, such as 100, 1e2 and 100.0,
// which a schema all accepts as an integer. Go decodes only the first into an integer, so parameters that fail to
// decode are tried again with whole numbers rewritten.
func decode(params []byte, into any) error {
	err := json.Unmarshal(params, into)
	if err == nil {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(params, &members) != nil {
		return err
	}
	changed := false
	for name, value := range members {
		if n, ok := wholeNumber(value); ok {
			members[name], changed = strconv.AppendInt(nil, n, 10), true
		}
	}
	if !changed {
		return err
	}
	plain, marshalErr := json.Marshal(members)
	if marshalErr != nil || json.Unmarshal(plain, into) != nil {
		return err
	}
	return nil
}

// maxExact is the largest integer up to which float64 represents every integer.
const maxExact = 1 << 53

// wholeNumber returns the value of an integer that is written with a fraction or an exponent.
func wholeNumber(value []byte) (int64, bool) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || value[0] != '-' && (value[0] < '0' || value[0] > '9') || !bytes.ContainsAny(value, ".eE") {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxExact {
		return 0, false
	}
	return int64(f), true
}
