package jsontext

import (
	"encoding/json"
	"strconv"
)

// UnmarshalWhole decodes an object into a struct, as [json.Unmarshal] does, and takes every spelling of a whole number for an integer member:
// 100, 1e2 and 100.0 are all integers of JSON Schema, and Go takes only the first. It tries again with such members rewritten.
func UnmarshalWhole(object []byte, into any) error {
	err := json.Unmarshal(object, into)
	if err == nil {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return err
	}
	changed := false
	for name, value := range members {
		if n, ok := Int(json.Number(value)); ok {
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
