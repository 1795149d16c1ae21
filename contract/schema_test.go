package contract_test

import "strings"

type field struct {
	name, kind string
	required   bool
}

// fields parses a list such as "path:string! limit:number".
func fields(list string) []field {
	var out []field
	for word := range strings.FieldsSeq(list) {
		name, kind, _ := strings.Cut(word, ":")
		kind, required := strings.CutSuffix(kind, "!")
		out = append(out, field{name, kind, required})
	}
	return out
}
