package candor_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/codes/memorybank"
	"github.com/candor-mcp/candor/codes/playwright"
	"github.com/candor-mcp/candor/codes/workrail"
	"github.com/candor-mcp/candor/internal/catalogue"
)

// TestK3UnregisteredCodesCannotBeConstructed checks that outside the package a Code is a generated variable, the result of a
// lookup, or the zero Code, and that the zero Code never equals another one.
func TestK3UnregisteredCodesCannotBeConstructed(t *testing.T) {
	t.Run("the zero code says so everywhere", func(t *testing.T) {
		for name, e := range map[string]*candor.Error{
			"literal":  {},
			"new":      candor.New(0, "disk on fire"),
			"no words": candor.New(0, ""),
			"with":     (&candor.Error{}).With(candor.WithTool("t"), candor.Otherwise(0)),
		} {
			if err := e.Validate(); err == nil || !strings.Contains(err.Error(), "no registered code") {
				t.Errorf("%s: Validate() = %v, want a sentence about the missing code", name, err)
			}
			if e.Code().Valid() || e.Code() != 0 {
				t.Errorf("%s: Code() = %v", name, e.Code())
			}
			if got := wireCode(t, e); got != "UNCODED_ERROR" {
				t.Errorf("%s: on the wire %q, want UNCODED_ERROR", name, got)
			}
			if s := e.Error(); !strings.Contains(s, "invalid error") {
				t.Errorf("%s: Error() = %q hides that it is invalid", name, s)
			}
		}
	})
	t.Run("the words of an uncoded error are kept", func(t *testing.T) {
		if raw := marshal(t, candor.New(0, "disk on fire")); !strings.Contains(raw, `"message":"disk on fire"`) {
			t.Error(raw)
		}
	})
	t.Run("numbers", func(t *testing.T) {
		registered := map[int]candor.Code{}
		for c := range candor.Codes() {
			registered[c.Number()] = c
		}
		for n := -40000; n < 6000; n++ {
			if c := candor.Code(n); c.Valid() != (registered[n] != 0) || c.Valid() && c != registered[n] {
				t.Errorf("Code(%d) is valid: %v; want %v", n, c.Valid(), registered[n])
			}
		}
	})
	t.Run("lookups find registered codes or nothing", func(t *testing.T) {
		all := slices.Collect(candor.Codes())
		words := []string{"", " ", "…", "nope", "INTERNAL_ERRO", "INTERNAL_ERROR ", "internal_error", "candor", "/", "0", "[INTERNAL_ERROR]"}
		for _, c := range all {
			words = append(words, c.Symbol(), strings.ToLower(c.Symbol()), c.String(), c.Symbol()+"X", fmt.Sprint(c.Number()))
			words = append(words, c.Info().Aliases...)
		}
		check := func(how, word string, c candor.Code, ok bool) {
			if ok != c.Valid() || ok && !slices.Contains(all, c) {
				t.Errorf("%s(%q) = %v, %v", how, word, c, ok)
			}
		}
		for _, w := range words {
			c, ok := candor.LookupSymbol(w)
			check("LookupSymbol", w, c, ok)
			c, ok = candor.LookupSymbol(w, "kaiza", "nowhere")
			check("LookupSymbol", w, c, ok)
			c, ok = candor.LookupCode("kaiza", w)
			check("LookupCode", w, c, ok)
			c, err := candor.ParseCode(w)
			check("ParseCode", w, c, err == nil)
		}
	})
	t.Run("neighbours of the zero code are not reached", func(t *testing.T) {
		var zero candor.Code
		if zero.Symbol()+zero.Domain()+zero.Info().Sentence+zero.Info().Action+string(zero.Class()) != "" || zero.Number() != 0 || zero.Info().RPCNumber != 0 {
			t.Error("the zero Code has properties")
		}
		if zero.Info().Successor.Valid() || zero.String() != "(no code)" {
			t.Errorf("zero: %v", zero)
		}
	})
}

func TestParseCodeReadsWhatPeopleType(t *testing.T) {
	for in, want := range map[string]candor.Code{
		"INTERNAL_ERROR":          candor.CodeInternalError,
		" internal_error\n":       candor.CodeInternalError,
		"kaiza/INTERNAL_ERROR":    kaiza.InternalError,
		"Kaiza/internal_error":    kaiza.InternalError,
		"2100":                    playwright.Nav,
		"E_PW_NAVIGATION":         playwright.Nav, // an alias
		"toolnotadmittederror":    dual.ToolNotAdmitted,
		"ToolNotAdmittedError":    dual.ToolNotAdmitted, // an alias that is not in capitals
		"dual/TOOL_NOT_ADMITTED":  dual.ToolNotAdmitted,
		"memory-bank/E_MB_READ":   memorybank.Read,
		"dual/ToolNotAdmittedERR": 0,
		"21000":                   0,
		"-1":                      0,
		"99999999999999999999":    0,
		"nowhere/INTERNAL_ERROR":  0,
		"":                        0,
	} {
		got, err := candor.ParseCode(in)
		if got != want || (err == nil) != want.Valid() {
			t.Errorf("ParseCode(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
}

func TestLookupSymbolPrefersTheReadersDomain(t *testing.T) {
	for _, test := range []struct {
		prefer []string
		want   candor.Code
	}{
		{nil, candor.CodeInternalError},
		{[]string{"kaiza"}, kaiza.InternalError},
		{[]string{"nowhere", "workrail", "kaiza"}, workrail.InternalError},
		{[]string{"nowhere"}, candor.CodeInternalError},
	} {
		if got, ok := candor.LookupSymbol("INTERNAL_ERROR", test.prefer...); !ok || got != test.want {
			t.Errorf("preferring %v: %v, want %v", test.prefer, got, test.want)
		}
	}
}

func TestCallersOwnWhatTheyAreGiven(t *testing.T) {
	playwright.Nav.Info().Aliases[0] = "EDITED"
	candor.Domains()[0].Name = "edited"
	candor.Classes()[0] = "edited"
	if _, ok := candor.LookupSymbol("EDITED"); ok || playwright.Nav.Info().Aliases[0] == "EDITED" {
		t.Error("Aliases shares its slice")
	}
	if candor.Domains()[0].Name == "edited" || candor.Classes()[0] == "edited" {
		t.Error("Domains or Classes share their slice")
	}
}

// TestH3CatalogueEqualsTable checks that the table compiled into the package equals spec/catalogue.json.
func TestH3CatalogueEqualsTable(t *testing.T) {
	spec, err := catalogue.Load("spec/catalogue.json")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]candor.Code{}
	last := 0
	for c := range candor.Codes() {
		if _, twice := table[c.String()]; twice {
			t.Errorf("%v stands twice in the table", c)
		}
		if c.Number() <= last {
			t.Errorf("%v: number %d does not come after %d", c, c.Number(), last)
		}
		table[c.String()], last = c, c.Number()
	}
	if len(table) != len(spec.Codes) {
		t.Errorf("the table has %d codes, the file %d", len(table), len(spec.Codes))
	}
	for _, want := range spec.Codes {
		c, ok := table[want.ID()]
		if !ok {
			t.Errorf("%s is not in the table", want.ID())
			continue
		}
		if got := asSpec(c); !same(got, want) {
			t.Errorf("%s\n table %+v\n  file %+v", want.ID(), got, want)
		}
		if got := candor.Code(want.Number); got != c {
			t.Errorf("Code(%d) = %v", want.Number, got)
		}
		if !c.Class().Valid() {
			t.Errorf("%v has the class %q", c, c.Class())
		}
	}
	checkDomains(t, spec)
}

func checkDomains(t *testing.T, spec *catalogue.Catalogue) {
	t.Helper()
	domains := candor.Domains()
	if len(domains) != len(spec.Domains) {
		t.Fatalf("%d domains, the file has %d", len(domains), len(spec.Domains))
	}
	owner := map[string]candor.Domain{}
	for i, d := range domains {
		if i > 0 && d.From <= domains[i-1].To {
			t.Errorf("%s begins at %d, inside %s", d.Name, d.From, domains[i-1].Name)
		}
		owner[d.Name] = d
	}
	for c := range candor.Codes() {
		if d := owner[c.Domain()]; c.Number() < d.From || c.Number() > d.To {
			t.Errorf("%v: number %d is outside %d to %d", c, c.Number(), d.From, d.To)
		}
		if n := c.Info().RPCNumber; n == 0 || n <= -32000 && n >= -32019 {
			t.Errorf("%v: JSON-RPC number %d", c, n)
		}
	}
	for _, d := range spec.Domains {
		if got := owner[d.Name]; got.From != d.From || got.To != d.To || got.Title != d.Title {
			t.Errorf("domain %s: table %+v, file %+v", d.Name, got, d)
		}
	}
}

// asSpec returns a compiled code in the form of the file.
func asSpec(c candor.Code) catalogue.Code {
	out := catalogue.Code{
		Symbol: c.Symbol(), Domain: c.Domain(), Number: c.Number(), Class: string(c.Class()), Retry: string(c.Retry().Kind()),
		AfterMs: c.Retry().AfterMs(), Since: c.Info().Since, Status: c.Info().Status, Effect: c.Info().Effect, Aliases: c.Info().Aliases,
		Message: c.Info().Sentence, Action: c.Info().Action,
	}
	if c.Info().RPCNumber != c.Number() {
		out.RPC = c.Info().RPCNumber
	}
	if c.Info().Successor.Valid() {
		out.Successor = c.Info().Successor.String()
	}
	return out
}

func same(got, want catalogue.Code) bool {
	want.Note, want.Line = "", 0
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	return errors.Join(errA, errB) == nil && bytes.Equal(a, b)
}

func TestClosedSetsRefuseStrangers(t *testing.T) {
	if len(candor.Classes()) != 13 {
		t.Errorf("%d classes, the contract has 13", len(candor.Classes()))
	}
	for _, c := range candor.Classes() {
		if !c.Valid() {
			t.Errorf("class %s is not valid", c)
		}
	}
	if candor.Class("").Valid() || candor.Class("BAD_REQUEST").Valid() || candor.Party("").Valid() || candor.Party("peer").Valid() {
		t.Error("a stranger is taken for a member")
	}
	for _, p := range []candor.Party{candor.PartyTool, candor.PartyServer, candor.PartyGateway, candor.PartyTransport, candor.PartyClient} {
		if !p.Valid() {
			t.Errorf("party %s is not valid", p)
		}
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func wireCode(t *testing.T, e *candor.Error) string {
	t.Helper()
	var seen struct{ Code string }
	if err := json.Unmarshal([]byte(marshal(t, e)), &seen); err != nil {
		t.Fatal(err)
	}
	return seen.Code
}

type (
	numberError   struct{ n int }
	numberedError struct{ n int }
	appError      struct{ n int }
	status        uint16
	fieldError    struct{ Code any }
	intField      struct{ AppCode int }
	unsignedField struct{ Code status }
	textField     struct{ ErrorCode, Code string }
	hiddenField   struct{ code string }
	CloseError    struct{ Code int }
)

func (e numberError) Error() string    { return "by number" }
func (e numberError) Code() int        { return e.n }
func (e numberedError) Error() string  { return "by number" }
func (e numberedError) ErrorCode() int { return e.n }
func (e *appError) Error() string      { return "by number" }
func (e *appError) AppCode() int       { return e.n }
func (e fieldError) Error() string     { return "by field" }
func (e intField) Error() string       { return "by field" }
func (e unsignedField) Error() string  { return "by field" }
func (e *textField) Error() string     { return "by field" }
func (e hiddenField) Error() string    { return "by field " + e.code }
func (e *CloseError) Error() string    { return "closed" }

// TestK8CarriedNumbersAndFieldsSurvive checks that a registered number and a field that holds a code are read as codes.
func TestK8CarriedNumbersAndFieldsSurvive(t *testing.T) {
	want := kaiza.SessionLocked
	n := want.Number()
	for name, thrown := range map[string]any{
		"Code() int": numberError{n}, "ErrorCode() int": numberedError{n}, "AppCode() int": &appError{n}, "wrapped": fmt.Errorf("x: %w", &appError{n}),
		"int field": intField{n}, "unsigned field": &unsignedField{status(n)}, "text field": &textField{Code: "SESSION_LOCKED"}, "first field": &textField{"SESSION_LOCKED", "x"},
		"raw text": "SESSION_LOCKED: Somebody else has it", "raw error": errors.New("SESSION_LOCKED: Somebody else has it"),
		"raw in brackets": "[INTERNAL_ERROR] SESSION_LOCKED: Somebody else has it", "raw, nested": "INTERNAL_ERROR: SESSION_LOCKED: Somebody else has it",
		"raw, wrapped": fmt.Errorf("open: %w", errors.New("SESSION_LOCKED: Somebody else has it")),
	} {
		if e := candor.FromUnknown(thrown, candor.Otherwise(candor.CodeTimeout)); e.Code() != want {
			t.Errorf("%s: %v, want %v", name, e.Code(), want)
		}
	}
	if got := candor.FromUnknown("SESSION_LOCKED: Somebody else has it").Message(); got != "Somebody else has it" {
		t.Errorf("message %q", got)
	}
	for name, thrown := range map[string]any{
		"an HTTP status": numberError{404}, "an exit status": intField{1}, "no number of ours": numberError{999999}, "negative": numberError{-32601}, "no scalar": fieldError{n},
		"not exported": hiddenField{"SESSION_LOCKED"}, "a WebSocket": &CloseError{1001}, "a nil pointer": (*textField)(nil), "another domain": "TIMEOUT: no answer",
		"no colon": "SESSION_LOCKED", "not at the start": "it says SESSION_LOCKED: no", "lower case": "session_locked: no", "no text": ":",
	} {
		if e := candor.FromUnknown(thrown); e.Code() != candor.CodeInternalError {
			t.Errorf("%s: %v", name, e.Code())
		}
	}
	if got := candor.From(numberError{404}).Cause().Code; got != "404" {
		t.Errorf("the cause lost its number: %q", got)
	}
}
