package config

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/limits"
	"github.com/candor-mcp/candor/internal/similar"
)

// masks returns a value that reads rules for successes that are failures into the options.
func masks(o *gateway.Options) value {
	return ruleList(o, "a mask", func(r *gateway.Rules) *[]gateway.Mask { return &r.Masks }, func(m *gateway.Mask) []key {
		return []key{
			{name: "tool", needed: true, value: text(&m.Tool, "a name, or a pattern such as get_*"), about: "the tool, or a pattern for several"},
			{name: "path", value: text(&m.Path, "a JSON Pointer such as /success"), about: "where to look in structuredContent, or in the JSON of the first text block"},
			{name: "equals", value: jsonValue(&m.Equals), about: "the value at the path; default any value except null"},
			{name: "text", value: text(&m.Text, "a regular expression"), about: "must match the first text block"},
			{name: "except", value: text(&m.Except, "a regular expression"), about: "the rule does not apply if this matches the first text block"},
			{name: "suspected", value: boolean(func(on bool) { m.Suspected = on }), about: "the rule applies only to answers that look like failures without it; default false"},
			{name: "code", value: code(&m.Code), about: "the code of the failure; default inferred from its text"},
			{name: "retry", value: retryAdvice(&m.Retry), about: "the retry advice; default that of the code"},
		}
	})
}

// codes returns a value that reads rules that map errors to codes into the options.
func codes(o *gateway.Options) value {
	return ruleList(o, "a code rule", func(r *gateway.Rules) *[]gateway.CodeRule { return &r.Codes }, func(c *gateway.CodeRule) []key {
		return []key{
			{name: "tool", value: text(&c.Tool, "a name, or a pattern such as get_*"), about: "the tool, or a pattern for several; default any"},
			{name: "said", value: text(&c.Said, "a code as the server says it"), about: "the code, symbol or number that the server uses"},
			{name: "text", value: text(&c.Text, "a regular expression"), about: "must match the server's message"},
			{name: "code", needed: true, value: code(&c.Code), about: "the code to use"},
		}
	})
}

// results returns a value that reads the tools whose errors are returned as results.
func results(o *gateway.Options) value {
	return ruleList(o, "a result rule", func(r *gateway.Rules) *[]gateway.ResultRule { return &r.Results }, func(t *gateway.ResultRule) []key {
		return []key{
			{name: "tool", needed: true, value: text(&t.Tool, "a name, or a pattern such as get_*"), about: "the tool, or a pattern for several"},
		}
	})
}

// ruleList returns a value that reads rules of one kind into the options. Each rule is compiled alone, so that an error has its
// position.
func ruleList[T any](o *gateway.Options, of string, list func(*gateway.Rules) *[]T, keys func(*T) []key) value {
	return sequence("a list of rules", func() value {
		rule := new(T)
		return then(mapping(of, func() []key { return append(keys(rule), note()) }), func(r *reader, n ast.Node) {
			var one gateway.Rules
			*list(&one) = []T{*rule}
			if err := one.Compile(); err != nil {
				if inner := errors.Unwrap(err); inner != nil {
					err = inner // without the number of the rule, because the position is reported
				}
				r.fail(firstKey(n), mistake("docs/gateway.md shows rules that work; an expression is one of RE2", "%s", err))
				return
			}
			all := list(rules(o))
			*all = append(*all, *list(&one)...)
		})
	})
}

func rules(o *gateway.Options) *gateway.Rules {
	if o.Rules == nil {
		o.Rules = &gateway.Rules{}
	}
	return o.Rules
}

// note returns the key for a comment on a rule, for readers of the file.
func note() key {
	return key{name: "note", value: text(new(string), "a text"), about: "why the rule is there, for readers of the file"}
}

// code returns a value that reads a code of the catalogue.
func code(into *candor.Code) value {
	return scalar("a code such as RATE_LIMITED", anyText, func(text string) error {
		c, err := candor.ParseCode(text)
		if err != nil {
			hint := similar.Hint(text, symbols(), "")
			return mistake(strings.TrimSpace(hint+" candor codes lists them"), "unknown code %s", quote(text))
		}
		*into = c
		return nil
	})
}

func symbols() []string {
	var all []string
	for c := range candor.Codes() {
		all = append(all, c.Symbol())
	}
	return all
}

// retryAdvice returns a value that reads retry advice; a duration means a retry after that delay.
func retryAdvice(into **candor.Retry) value {
	const words = "not_retryable, retryable_immediate, or a duration such as 30s"
	return scalar(words, anyText, func(text string) error {
		var advice candor.Retry
		switch text {
		case string(candor.RetryNever):
			advice = candor.NoRetry()
		case string(candor.RetryImmediate):
			advice = candor.RetryNow()
		default:
			d, err := ParseDuration(text)
			if err != nil || d > limits.RetryAfter {
				return mistake("give "+words, "%s: not retry advice", quote(text))
			}
			advice = candor.RetryIn(d)
		}
		*into = &advice
		return nil
	})
}

// jsonValue returns a value that reads a scalar and stores it as JSON text.
func jsonValue(into *string) value {
	const words = "a text, a number, true, false or null"
	return value{words: words, schema: map[string]any{"type": []any{"string", "number", "boolean", "null"}}, read: func(r *reader, n ast.Node) {
		got, ok := word(n)
		switch n.(type) {
		case *ast.NullNode:
			*into = "null"
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			if !json.Valid([]byte(got)) {
				r.fail(n, mistake("write it as in JSON", "%s: not a JSON number", quote(got)))
				return
			}
			*into = got
		default:
			if !ok {
				r.fail(n, mistake("give "+words, "this is %s", describe(n)))
				return
			}
			*into = jsonText(got)
		}
	}}
}

// jsonText returns a text as a JSON string.
func jsonText(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // cannot fail for a string
	return strings.TrimSuffix(b.String(), "\n")
}
