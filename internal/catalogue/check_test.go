package catalogue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/catalogue"
	"github.com/candor-mcp/candor/internal/limits"
)

const path = "../../spec/catalogue.json"

func load(t *testing.T) (*catalogue.Catalogue, []catalogue.Release) {
	t.Helper()
	c, err := catalogue.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	released, err := catalogue.LoadReleased("../../spec/released.txt")
	if err != nil {
		t.Fatal(err)
	}
	return c, released
}

func TestTheCatalogueKeepsItsRules(t *testing.T) {
	c, released := load(t)
	if err := c.Check(released); err != nil {
		t.Error(err)
	}
}

func TestClosedSetsAreThoseOfPackageCandor(t *testing.T) {
	var theirs, ours []string
	for _, class := range candor.Classes() {
		theirs = append(theirs, string(class))
	}
	for _, class := range catalogue.Classes() {
		ours = append(ours, class.Name)
	}
	if fmt.Sprint(theirs) != fmt.Sprint(ours) {
		t.Errorf("classes: candor has %v, the catalogue %v", theirs, ours)
	}
	kinds := []candor.RetryKind{candor.RetryNever, candor.RetryImmediate, candor.RetryAfterMs}
	if fmt.Sprint(kinds) != fmt.Sprint(catalogue.RetryKinds()) {
		t.Errorf("retry kinds: candor has %v, the catalogue %v", kinds, catalogue.RetryKinds())
	}
	if ms := limits.RetryAfter.Milliseconds(); ms != catalogue.MaxAfterMs {
		t.Errorf("longest delay: candor has %d ms, the catalogue %d", ms, catalogue.MaxAfterMs)
	}
}

// TestEachFaultIsFound changes one entry of the real catalogue and checks that the fault is reported with the code and its line.
func TestEachFaultIsFound(t *testing.T) {
	const file, want = "kaiza/FILE_NOT_FOUND", "kaiza/FILE_NOT_FOUND: "
	cases := map[string]struct {
		code  string
		spoil func(*catalogue.Code)
		want  string
	}{
		"same symbol":             {"kaiza/PATH_NOT_FOUND", func(c *catalogue.Code) { c.Symbol = "FILE_NOT_FOUND" }, `name "kaiza/FILE_NOT_FOUND" is already`},
		"same number":             {file, func(c *catalogue.Code) { c.Number = 3213 }, `number "3213" is already`},
		"number outside":          {file, func(c *catalogue.Code) { c.Number = 3300 }, want + "number 3300 is outside"},
		"order":                   {file, func(c *catalogue.Code) { c.Number = 3299 }, "comes after 3299"},
		"unknown domain":          {"misc/E_MISC", func(c *catalogue.Code) { c.Domain = "other" }, `domain "other" is not listed`},
		"unknown class":           {file, func(c *catalogue.Code) { c.Class = "oops" }, want + `class "oops"`},
		"unknown retry":           {file, func(c *catalogue.Code) { c.Retry = "retryable" }, want + `retry "retryable"`},
		"delay missing":           {"dual/DB_BUSY", func(c *catalogue.Code) { c.AfterMs = 0 }, "dual/DB_BUSY: afterMs 0"},
		"delay too long":          {"dual/DB_BUSY", func(c *catalogue.Code) { c.AfterMs = catalogue.MaxAfterMs + 1 }, "dual/DB_BUSY: afterMs"},
		"delay where none is due": {file, func(c *catalogue.Code) { c.AfterMs = 5 }, want + "retry not_retryable takes no afterMs"},
		"retry against class":     {file, func(c *catalogue.Code) { c.Retry = "retryable_immediate" }, want + "class not_found asks"},
		"symbol form":             {file, func(c *catalogue.Code) { c.Symbol = "File_Not_Found" }, "symbol is not UPPER_SNAKE"},
		"symbol underscore":       {file, func(c *catalogue.Code) { c.Symbol = "FILE__NOT" }, "symbol is not UPPER_SNAKE"},
		"rpc of our own making":   {file, func(c *catalogue.Code) { c.RPC = -32000 }, want + "rpc -32000"},
		"message empty":           {file, func(c *catalogue.Code) { c.Message = "" }, want + "message must be"},
		"message without stop":    {file, func(c *catalogue.Code) { c.Message = "The file does not exist" }, want + "message must be"},
		"two sentences":           {file, func(c *catalogue.Code) { c.Message = "It is gone. Look again." }, want + "message must be"},
		"placeholder":             {file, func(c *catalogue.Code) { c.Message = "The file {name} is gone." }, want + "message must be"},
		"format verb":             {file, func(c *catalogue.Code) { c.Message = "The file %s is gone." }, want + "message must be"},
		"line break":              {file, func(c *catalogue.Code) { c.Message = "The file\nis gone." }, want + "message must be"},
		"message too long":        {file, func(c *catalogue.Code) { c.Message = "A" + strings.Repeat("a", 160) + "." }, want + "message has 162 bytes"},
		"same message":            {file, func(c *catalogue.Code) { c.Message = "The patch is malformed." }, `message "the patch is malformed." is already`},
		"action empty":            {file, func(c *catalogue.Code) { c.Action = "" }, want + "action must be"},
		"action too long":         {file, func(c *catalogue.Code) { c.Action = strings.Repeat("Do it. ", 50) + "Now." }, want + "action has"},
		"action against never":    {file, func(c *catalogue.Code) { c.Action = "Wait and try again." }, want + `"try again" contradicts not_retryable`},
		"action against after":    {"dual/DB_BUSY", func(c *catalogue.Code) { c.Action = "Do not retry." }, `"not retry" contradicts retryable_after_ms`},
		"message against never":   {file, func(c *catalogue.Code) { c.Message = "Gone, try again." }, want + `"try again" contradicts`},
		"note form":               {file, func(c *catalogue.Code) { c.Note = "no stop" }, want + "note must be"},
		"since":                   {file, func(c *catalogue.Code) { c.Since = "soon" }, want + "since"},
		"status":                  {file, func(c *catalogue.Code) { c.Status = "old" }, want + `status "old"`},
		"reserved where complete": {file, func(c *catalogue.Code) { c.Status = "reserved" }, want + "no code of the domain kaiza may be reserved"},
		"deprecated without heir": {file, func(c *catalogue.Code) { c.Status = "deprecated" }, want + "is deprecated and needs a successor"},
		"heir unknown":            {file, deprecate("kaiza/NOBODY"), want + "is deprecated and needs a successor"},
		"heir not active":         {file, deprecate("candor/LEDGER_DAMAGED"), want + "its successor candor/LEDGER_DAMAGED is not active"},
		"heir of an active code":  {file, func(c *catalogue.Code) { c.Successor = "kaiza/PATH_NOT_FOUND" }, want + "only a deprecated code has a successor"},
		"alias form":              {file, func(c *catalogue.Code) { c.Aliases = []string{"no way"} }, want + `alias "no way"`},
		"alias taken":             {file, func(c *catalogue.Code) { c.Aliases = []string{"INVALID_PATH"} }, `name "kaiza/INVALID_PATH" is already`},
		"released, renumbered":    {file, func(c *catalogue.Code) { c.Number = 3298 }, want + "was released as number 3214"},
		"released, renamed":       {file, func(c *catalogue.Code) { c.Symbol = "FILE_GONE" }, "kaiza/FILE_NOT_FOUND 3214 is missing"},
		"released, other class":   {file, func(c *catalogue.Code) { c.Class = "conflict" }, want + "was released as class not_found"},
		"released, other retry":   {"dual/DB_BUSY", func(c *catalogue.Code) { c.Retry, c.AfterMs = "not_retryable", 0 }, "dual/DB_BUSY: was released as retryable_after_ms"},
		"released, other version": {file, func(c *catalogue.Code) { c.Since = "0.2.0" }, want + "was released in 0.1.0"},
		"released, then reserved": {"common/E_TIMEOUT", func(c *catalogue.Code) { c.Status = "reserved" }, "common/E_TIMEOUT: was released and cannot be reserved again"},
	}
	for name, x := range cases {
		t.Run(name, func(t *testing.T) {
			c, released := load(t)
			code := c.Find(x.code)
			line := code.Line
			x.spoil(code)
			err := c.Check(released)
			if err == nil {
				t.Fatal("no fault was found")
			}
			due := x.want
			if strings.HasPrefix(due, x.code+": ") { // the fault is reported at the line of the code
				due = fmt.Sprintf("line %d: %s", line, due)
			}
			if !strings.Contains(err.Error(), due) {
				t.Errorf("found\n%v\nwant %s", err, due)
			}
		})
	}
}

func deprecate(successor string) func(*catalogue.Code) {
	return func(c *catalogue.Code) { c.Status, c.Successor = "deprecated", successor }
}
