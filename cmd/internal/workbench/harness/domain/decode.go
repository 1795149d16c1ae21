package domain

import (
	"encoding/json"
	"strconv"

	"github.com/candor-mcp/candor/internal/jsontext"
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
		if n, ok := jsontext.Int(json.Number(value)); ok {
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
