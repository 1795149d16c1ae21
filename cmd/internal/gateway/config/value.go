package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
)

// key is one key of a mapping. The reader, the schema and the reference in the documentation are generated from it.
type key struct {
	name   string
	about  string // its meaning, in one sentence without a full stop
	value  value
	needed bool
}

// value defines how a value is read, and its schema.
type value struct {
	words  string         // valid values, such as "a duration such as 30s"
	schema map[string]any // nil for a mapping, see jsonSchema
	read   func(r *reader, n ast.Node)
	inner  func() []key // keys of a mapping, for the reference
	of     string       // the thing that the mapping describes
}

// jsonSchema returns the schema. That of a mapping is made on demand, because a file may have many rules.
func (v value) jsonSchema() map[string]any {
	if v.schema == nil {
		return objectSchema(v.inner())
	}
	return v.schema
}

// scalar returns a value that reads a single value with parse. An error is reported at its position.
func scalar(words string, schema map[string]any, parse func(text string) error) value {
	return single(words, schema, (*reader).fail, func(r *reader, n ast.Node, text string) {
		if err := parse(text); err != nil {
			r.fail(n, err)
		}
	})
}

// single returns a value that reads a single value with read. Any other value is reported with fail.
func single(words string, schema map[string]any, fail func(*reader, ast.Node, error), read func(*reader, ast.Node, string)) value {
	return value{words: words, schema: schema, read: func(r *reader, n ast.Node) {
		if text, ok := word(n); ok {
			read(r, n, text)
			return
		}
		fail(r, n, mistake("give "+words, "this is %s", describe(n)))
	}}
}

var anyText = map[string]any{"type": "string"} // the schema of a text; never changed

// word returns the text of a scalar without quotes.
func word(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	default:
		return "", false
	}
}

// text returns a value that reads any text.
func text(into *string, words string) value {
	return parsed(into, words, func(text string) (string, error) { return text, nil })
}

// parsed returns a value that reads a text with a parse function.
func parsed[T any](into *T, words string, parse func(string) (T, error)) value {
	return scalar(words, anyText, func(text string) (err error) {
		*into, err = parse(text)
		return err
	})
}

// choice returns a value that reads one of a list of words.
func choice[T ~string](into *T, kind string, list []T) value {
	names := make([]string, 0, len(list))
	for _, name := range list {
		names = append(names, string(name))
	}
	return scalar(strings.Join(names, ", "), map[string]any{"enum": names}, func(text string) error {
		if !slices.Contains(names, text) {
			return unknown(kind, text, names)
		}
		*into = T(text)
		return nil
	})
}

// integer returns a value that reads an integer within bounds.
func integer(into *int, least, most int) value {
	words := "a number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
	return scalar(words, map[string]any{"type": "integer", "minimum": least, "maximum": most}, func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return mistake("give "+words, "%s: not a number, or out of bounds", quote(text))
		}
		*into = n
		return nil
	})
}

// boolean returns a value that reads true or false. YAML 1.2 has no other words for them, and "yes" is an error.
func boolean(set func(bool)) value {
	return scalar("true or false", map[string]any{"type": "boolean"}, func(text string) error {
		if text != "true" && text != "false" {
			return mistake("give true or false", "%s is neither true nor false", quote(text))
		}
		set(text == "true")
		return nil
	})
}

// sequence returns a value that reads a list. Element is called for each element and returns the value that reads it.
func sequence(words string, element func() value) value {
	sample := element()
	return value{
		words: words, schema: map[string]any{"type": "array", "items": sample.jsonSchema()}, inner: sample.inner, of: sample.of,
		read: func(r *reader, n ast.Node) {
			list, ok := n.(*ast.SequenceNode)
			if !ok {
				r.fail(n, mistake("give "+words, "this is %s", describe(n)))
				return
			}
			for _, v := range list.Values {
				if v = r.resolve(v); v != nil {
					element().read(r, v)
				}
			}
		},
	}
}

// words returns a value that reads a list of texts.
func words(into *[]string, what string) value {
	return sequence(what, func() value {
		return scalar("a text", anyText, func(text string) error { *into = append(*into, text); return nil })
	})
}

// named returns a value that reads a mapping with names chosen in the file. Entry returns the value that reads one, or an error
// for an invalid name.
func named(what, about string, entry func(name string) (value, error)) value {
	sample, _ := entry("name")
	return value{
		words: about, schema: map[string]any{"type": "object", "additionalProperties": sample.jsonSchema()}, inner: sample.inner, of: sample.of,
		read: func(r *reader, n ast.Node) {
			all, ok := yamlfile.Pairs(n)
			if !ok {
				r.fail(n, mistake("give "+about, "this is %s", describe(n)))
				return
			}
			r.each(all, func(name string, k, v ast.Node) {
				how, err := entry(name)
				if err != nil {
					r.fail(k, err)
					return
				}
				how.read(r, v)
			}, what)
		},
	}
}

// mapping returns a value that reads a mapping with known keys. The error for an unknown key suggests a similar one.
func mapping(of string, keys func() []key) value {
	return value{
		words: "a mapping", inner: keys, of: of,
		read: func(r *reader, n ast.Node) {
			known := keys()
			all, ok := yamlfile.Pairs(n)
			if !ok {
				r.fail(n, mistake("give a mapping with keys such as "+known[0].name+": …", "%s is a mapping, and this is %s", of, describe(n)))
				return
			}
			seen := map[string]bool{}
			r.each(all, func(name string, k, v ast.Node) {
				at := slices.IndexFunc(known, func(k key) bool { return k.name == name })
				if at < 0 {
					r.fail(k, mistake(nearby(name, names(known)), "%s has no key %s", of, quote(name)))
					return
				}
				seen[name] = true
				known[at].value.read(r, v)
			}, "key")
			for _, k := range known {
				if k.needed && !seen[k.name] {
					r.fail(firstKey(n), mistake("add "+k.name+": "+k.value.words, "%s has no %s", of, k.name))
				}
			}
		},
	}
}

// firstKey returns the node at which to report a problem of a whole mapping: its first key.
func firstKey(n ast.Node) ast.Node {
	if all, _ := yamlfile.Pairs(n); len(all) > 0 {
		return all[0].Key
	}
	return n
}

// then returns v with a step that follows a read without problems.
func then(v value, step func(r *reader, n ast.Node)) value {
	read := v.read
	v.read = func(r *reader, n ast.Node) {
		before := r.Count()
		if read(r, n); r.Count() == before {
			step(r, n)
		}
	}
	return v
}

func names(keys []key) []string {
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		out = append(out, k.name)
	}
	return out
}

// each calls do for every key of a mapping with a readable name and value.
func (r *reader) each(all []*ast.MappingValueNode, do func(name string, k, v ast.Node), what string) {
	seen := map[string]bool{}
	for _, pair := range all {
		name, ok := r.name(pair.Key)
		if !ok {
			continue
		}
		if seen[name] {
			r.fail(pair.Key, mistake("keep one of them", "the %s %s is given twice", what, quote(name)))
			continue
		}
		seen[name] = true
		if v := r.resolve(pair.Value); v != nil {
			do(name, pair.Key, v)
		}
	}
}

// either returns a value that reads one of two forms: a mapping or a single value.
func either(short, long value) value {
	return value{
		words: short.words + ", or a mapping", schema: map[string]any{"anyOf": []any{short.jsonSchema(), long.jsonSchema()}}, inner: long.inner, of: long.of,
		read: func(r *reader, n ast.Node) {
			if _, ok := yamlfile.Pairs(n); ok {
				long.read(r, n)
				return
			}
			short.read(r, n)
		},
	}
}
