package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/pointer"
)

// finding is one error, before it becomes an issue. Its path and names come from the value and are not cleaned.
type finding struct {
	at      string // location of the schema that reports it
	steps   []string
	key     string // the key itself, if it is missing, unknown or misnamed; it is also the last of steps
	what    jsonschema.ErrorKind
	options int      // how many alternatives there were
	chosen  []branch // the alternatives that this belongs to
	value   any      // the whole value that was checked

	instead             []string // the keys that the other alternatives lack, if they lack nothing else
	everywhere          bool     // every alternative has a finding of this kind
	path, rule, message string   // set by word
}

// branch is one alternative of the schema at a location.
type branch struct {
	at    string
	index int
}

// leaves returns the findings at the leaves of a tree of errors. Inner nodes only repeat that a part is invalid.
func leaves(e *jsonschema.ValidationError) []finding {
	switch what := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		var all []finding
		for i, cause := range e.Causes {
			if found := leaves(cause); i == 0 {
				all = found // not copied: the tree may be deep
			} else {
				all = append(all, found...)
			}
		}
		return all
	case *kind.AnyOf:
		return closest(e)
	case *kind.OneOf:
		if len(what.Subschemas) == 0 {
			return closest(e)
		}
	case *kind.Required:
		return keys(e, what.Missing)
	case *kind.Dependency:
		return keys(e, what.Missing)
	case *kind.DependentRequired:
		return keys(e, what.Missing)
	case *kind.AdditionalProperties:
		return keys(e, what.Properties)
	case *kind.PropertyNames:
		return keys(e, []string{what.Property})
	case *kind.FalseSchema:
		if n := len(e.InstanceLocation); n > 0 {
			return []finding{{at: e.SchemaURL, steps: e.InstanceLocation, key: e.InstanceLocation[n-1], what: what}}
		}
	}
	return []finding{{at: e.SchemaURL, steps: e.InstanceLocation, what: e.ErrorKind}}
}

// keys returns one finding for each key.
func keys(e *jsonschema.ValidationError, names []string) []finding {
	all := make([]finding, len(names))
	for i, name := range names {
		all[i] = finding{at: e.SchemaURL, steps: append(slices.Clip(slices.Clone(e.InstanceLocation)), name), key: name, what: e.ErrorKind}
	}
	return all
}

// closest returns the findings of the alternative that needs the fewest changes. Alternatives for
// another type, or with another constant, are the last choice. If all are for other types, the types are reported instead.
func closest(e *jsonschema.ValidationError) []finding {
	branches := make([][]finding, len(e.Causes))
	for i, cause := range e.Causes {
		branches[i] = leaves(cause)
	}
	here := finding{at: e.SchemaURL, steps: e.InstanceLocation, what: e.ErrorKind}
	if want := typesWanted(branches, len(here.steps)); want != nil {
		here.what = want
		return []finding{here}
	}
	if cases := casesWanted(branches, len(here.steps)); cases != nil {
		return cases
	}
	best, least, index := []finding{here}, -1, 0
	for i, found := range branches {
		if far := distance(found, len(here.steps)); least < 0 || far < least {
			best, least, index = found, far, i
		}
	}
	choose(best, branch{here.at, index}, len(branches))
	lacks := func(f finding) bool { // a key of this object
		_, required := f.what.(*kind.Required)
		return required && len(f.steps) == len(here.steps)+1
	}
	if instead := keysInstead(branches, index, lacks); instead != nil {
		best[0].instead = instead
	}
	if !slices.ContainsFunc(branches, func(found []finding) bool { return !slices.ContainsFunc(found, lacks) }) {
		for i := range best {
			best[i].everywhere = best[i].everywhere || lacks(best[i])
		}
	}
	return best
}

// keysInstead names the keys that the alternatives other than the chosen one lack. It returns nil if one of them has another finding.
func keysInstead(branches [][]finding, chosen int, lacks func(finding) bool) []string {
	var all []string
	for i, found := range branches {
		var keys []string
		for _, f := range found {
			if !lacks(f) {
				return nil
			}
			keys = append(keys, quoted(f.key))
		}
		if i != chosen {
			all = append(all, strings.Join(keys, " and "))
		}
	}
	return all
}

// choose notes that findings belong to one alternative of several.
func choose(found []finding, chosen branch, options int) {
	for i := range found {
		found[i].options = max(found[i].options, options)
		found[i].chosen = append(found[i].chosen, chosen)
	}
}

// notMeant is the distance of a finding which shows that an alternative was not meant; it exceeds any number of other findings.
const (
	otherCase = 1_000
	otherType = 1_000_000
)

// distance counts the findings of an alternative that begins at that depth of the value; decisive ones count many times.
func distance(found []finding, depth int) int {
	far := len(found)
	for _, f := range found {
		_, isType := f.what.(*kind.Type)
		switch {
		case isType && len(f.steps) == depth:
			far += otherType
		case f.constant() != nil && len(f.steps) == depth+1:
			far += otherCase
		}
	}
	return far
}

// typesWanted returns the types of all alternatives as one finding, or nil if one of them has another finding.
func typesWanted(branches [][]finding, depth int) *kind.Type {
	var all *kind.Type
	for _, found := range branches {
		if len(found) != 1 || len(found[0].steps) != depth {
			return nil
		}
		what, ok := found[0].what.(*kind.Type)
		if !ok {
			return nil
		}
		if all == nil {
			all = &kind.Type{Got: what.Got}
		}
		all.Want = append(all.Want, what.Want...)
	}
	if all != nil {
		slices.Sort(all.Want)
		all.Want = slices.Compact(all.Want)
	}
	return all
}

// casesWanted returns one finding with the constants that distinguish the alternatives, or nil if an alternative does not
// have such a constant. Alternatives for other types do not count.
func casesWanted(branches [][]finding, depth int) []finding {
	var all []finding
	var want []any
	for _, found := range branches {
		if distance(found, depth) >= otherType {
			continue
		}
		i := slices.IndexFunc(found, func(f finding) bool { return len(f.steps) == depth+1 && f.constant() != nil })
		if i < 0 || len(all) > 0 && !slices.Equal(all[0].steps, found[i].steps) {
			return nil
		}
		all, want = append(all, found[i]), append(want, found[i].constant()...)
	}
	if len(all) < 2 {
		return nil
	}
	all[0].what = &kind.Enum{Want: want}
	return all[:1]
}

// constant returns a list of the only valid value.
func (f *finding) constant() []any {
	switch what := f.what.(type) {
	case *kind.Const:
		return []any{what.Want}
	case *kind.Enum:
		if len(what.Want) == 1 {
			return what.Want
		}
	}
	return nil
}

// compare orders by path, rule and message. Findings that are equal in all three are duplicates.
func (f finding) compare(g finding) int {
	return cmp.Or(strings.Compare(f.path, g.path), strings.Compare(f.rule, g.rule), strings.Compare(f.message, g.message))
}

// Bounds of what is shown, in bytes.
const (
	maxKeyShown     = 64
	maxPathShown    = 512
	maxMessageShown = 480
)

// cleanKey is a key as it may be shown: one line, without secrets.
func cleanKey(key string) string {
	return oneLine.Replace(candor.Public(key, maxKeyShown))
}

var oneLine = strings.NewReplacer("\n", " ", "\t", " ")

// shownPath returns steps as a JSON Pointer of limited length.
func shownPath(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		if b.Len() > maxPathShown {
			b.WriteString("/…")
			break
		}
		b.WriteString(pointer.Of(cleanKey(step)))
	}
	return b.String()
}

// word sets the path, rule and message of a finding. They come from the schema; from the value they use only types and keys.
func (f *finding) word() {
	f.path = shownPath(f.steps)
	f.rule, f.message = wording(f)
	f.message = candor.Public(f.message, maxMessageShown)
}

// isUnknownKey reports a key that the schema does not know.
func (f *finding) isUnknownKey() bool {
	switch f.what.(type) {
	case *kind.AdditionalProperties:
		return true
	case *kind.FalseSchema:
		return f.key != "" && (strings.HasSuffix(f.at, "/unevaluatedProperties") || strings.HasSuffix(f.at, "/additionalProperties"))
	default:
		return false
	}
}

func quoted(key string) string { return fmt.Sprintf("%q", cleanKey(key)) }
