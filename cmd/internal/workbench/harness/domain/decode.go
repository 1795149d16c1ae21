package domain

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// decode reads parameters into a struct. JSON has several spellings of a whole number, such as 100, 1e2 and 100.0, and a schema accepts
// them all as an integer. A Go integer takes only the first, so that parameters it refuses are tried again with whole numbers spelled out.
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

// maxExact is the largest integer up to which every one is a float64.
const maxExact = 1 << 53

// wholeNumber returns the value of a number that is an integer and is written with a fraction or an exponent.
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
