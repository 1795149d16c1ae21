package gateway

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/mask"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// Rules holds what is known about one upstream in advance, from a reviewed profile that probe has written or from configuration.
// They are complete when [Rules.Compile] has returned nil; after that they are only read.
type Rules struct {
	Masks   []Mask
	Codes   []CodeRule
	Results []ResultRule
}

// Mask defines which successes of a tool are failures. All conditions that are set must hold; at least one must be set.
type Mask struct {
	Tool   string        // a name, or a pattern as in path.Match
	Path   string        // a JSON Pointer into structuredContent, or into JSON in the first text block
	Equals string        // the JSON text of the value at Path; "" matches any value except null
	Text   string        // a regular expression for the first text block
	Except string        // a regular expression for the first text block that disables the rule
	Code   candor.Code   // the zero Code means that the text determines the code
	Retry  *candor.Retry // nil means the advice of the code
	// Suspected limits the rule to answers that package contract suspects, so that it makes suspicions certain and matches no others.
	Suspected bool

	test mask.Test
}

// CodeRule assigns a code to an error of this upstream. All conditions that are set must hold; Said or Text must be set.
type CodeRule struct {
	Tool string // a name, or a pattern as in path.Match; "" matches any
	Said string // a code, number or symbol, as the upstream writes it
	Text string // a regular expression for the message
	Code candor.Code

	text *regexp.Regexp
}

// ResultRule names tools whose failures the upstream reports as JSON-RPC errors, which many clients do not show to their model.
// They are returned as results with isError and the upstream's text. Errors with a number that the protocol defines stay errors.
type ResultRule struct {
	Tool string // a name, or a pattern as in path.Match
}

// Compile checks the rules. The error names the rule by its position, from 1, and says how to correct it.
func (r *Rules) Compile() error {
	for i := range r.Masks {
		if err := r.Masks[i].compile(); err != nil {
			return fmt.Errorf("mask %d: %w", i+1, err)
		}
	}
	for i := range r.Codes {
		if err := r.Codes[i].compile(); err != nil {
			return fmt.Errorf("code rule %d: %w", i+1, err)
		}
	}
	for i, rule := range r.Results {
		if rule.Tool == "" {
			return fmt.Errorf("result rule %d: %w", i+1, errors.New("a rule needs a tool"))
		}
		if err := checkPattern(rule.Tool); err != nil {
			return fmt.Errorf("result rule %d: %w", i+1, err)
		}
	}
	return nil
}

func (m *Mask) compile() (err error) {
	if m.Tool == "" || m.Path == "" && m.Text == "" {
		return fmt.Errorf("a rule needs a tool, and a path or a text")
	}
	if err := checkPattern(m.Tool); err != nil {
		return err
	}
	m.test, err = mask.Rule{Path: m.Path, Equals: m.Equals, Text: m.Text, Except: m.Except}.Compile()
	return err
}

func (c *CodeRule) compile() (err error) {
	if c.Said == "" && c.Text == "" || !c.Code.Valid() {
		return fmt.Errorf("a rule needs said or a text, and a code")
	}
	if err := checkPattern(c.Tool); err != nil {
		return err
	}
	if c.Text != "" {
		c.text, err = regexp.Compile(c.Text)
	}
	return err
}

func checkPattern(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("the pattern %q for tools: %w", pattern, err)
	}
	return nil
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// unmask returns the rule by which a successful answer is a failure, or nil.
func (r *Rules) unmask(c *Call, x *contract.Exchange, found contract.Conclusion) *Mask {
	if r == nil || !c.IsTool() || x.Response.Shape() != wire.KindResult {
		return nil
	}
	for i := range r.Masks {
		m := &r.Masks[i]
		if m.Suspected && found.Certainty != contract.Suspected || !matches(m.Tool, c.tool) {
			continue
		}
		if m.test.Holds(x.Response.Result()) {
			return m
		}
	}
	return nil
}

// error returns the error that the rule defines for a failure that was read as e. E is nil if only the rule detected the failure.
func (m *Mask) error(e *candor.Error) *candor.Error {
	code, message := candor.CodeMaskedFailure, ""
	if e != nil {
		message = e.Message()
		if e.Code() != candor.CodeUnknownToolFailure {
			code = e.Code()
		}
	}
	options := []candor.Option{candor.WithOrigin(candor.PartyTool, false)}
	if m.Code.Valid() {
		code = m.Code
	} else if e != nil {
		options = append(options, candor.WithRetry(e.Retry()))
	}
	if m.Retry != nil {
		options = append(options, candor.WithRetry(*m.Retry))
	}
	if e != nil {
		options = append(options, candor.WithDetails(e.Details()), candor.WithRef(e.Ref()), candor.WithTime(e.Time()))
	}
	return candor.New(code, message, options...)
}

// translate replaces the code of an error with the one that the rules define for it.
func (r *Rules) translate(c *Call, e *candor.Error) *candor.Error {
	if r == nil || e == nil {
		return e
	}
	for i := range r.Codes {
		if rule := &r.Codes[i]; rule.applies(c, e) {
			return withCode(e, rule.Code, false)
		}
	}
	return e
}

// withCode returns an error with another code, and with the retry advice and suggestion of that code.
func withCode(e *candor.Error, code candor.Code, inferred bool) *candor.Error {
	return candor.New(code, e.Message(), candor.WithOrigin(e.Origin().By, inferred), candor.WithDetails(e.Details()),
		candor.WithRef(e.Ref()), candor.WithTime(e.Time()), candor.WithCallInfo(e.CallInfo()), candor.WithCauseText(e.Cause()))
}

func (c *CodeRule) applies(call *Call, e *candor.Error) bool {
	if c.Tool != "" && !matches(c.Tool, call.tool) || c.text != nil && !c.text.MatchString(e.Message()) {
		return false
	}
	return c.Said == "" || said(e, c.Said)
}

// asResult reports whether a JSON-RPC error of a tool is returned as a result.
func (r *Rules) asResult(c *Call, m *wire.Message) bool {
	if r == nil || !c.IsTool() || m.Kind() != wire.KindError {
		return false
	}
	switch n, _ := m.Error().Path("code").Int64(); {
	case n == -32700, n == -32600, n == -32601, n >= -32099 && n <= -32020:
		return false // the protocol defines the number, and clients may act on it
	}
	for i := range r.Results {
		if matches(r.Results[i].Tool, c.tool) {
			return true
		}
	}
	return false
}

// said reports whether the upstream used name as the code, symbol or number of the error.
func said(e *candor.Error, name string) bool {
	if e.Code().Symbol() == name || strconv.Itoa(e.Code().Number()) == name {
		return true
	}
	v, err := wire.ParseValue([]byte(e.Details().Get("said").String()), wire.Limits{})
	if err != nil {
		return false
	}
	for _, value := range v.Members() {
		if text, ok := value.Str(); ok && text == name || string(value.Raw()) == name {
			return true
		}
	}
	return false
}
