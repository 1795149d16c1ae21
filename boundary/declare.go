package boundary

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// CodesKey is the member of a tool's _meta that lists the codes it can raise.
const CodesKey = "dev.candor/codes"

// Declare writes the codes that a tool can raise into its description, where clients see them, and returns the tool. What a tool
// raises beyond them is reported to [Options.Undeclared].
func Declare(t *mcp.Tool, codes ...candor.Code) *mcp.Tool {
	names := make([]string, len(codes))
	for i, c := range codes {
		names[i] = c.String()
	}
	if t.Meta == nil {
		t.Meta = mcp.Meta{}
	}
	t.Meta[CodesKey] = names
	return t
}

// TestingT is the part of *testing.T that [FailUndeclared] needs.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
}

// FailUndeclared returns a function for [Options.Undeclared] that fails a test when a tool raises a code it has not declared.
func FailUndeclared(t TestingT) func(tool string, code candor.Code) {
	return func(tool string, code candor.Code) {
		t.Helper()
		t.Errorf("the tool %q raised %s, which it does not declare: add it to boundary.Declare, or map it to a declared code", tool, code)
	}
}

func declaredCodes(t *mcp.Tool) []candor.Code {
	names, ok := t.Meta[CodesKey].([]string)
	if !ok {
		return nil
	}
	codes := make([]candor.Code, 0, len(names))
	for _, name := range names {
		if c, err := candor.ParseCode(name); err == nil {
			codes = append(codes, c)
		}
	}
	return codes
}

// always are the codes that the boundary raises for any tool, declared or not.
var always = []candor.Code{
	candor.CodeInvalidArguments, candor.CodeToolNotFound, candor.CodeCancelled, candor.CodeCallTimeout,
	candor.CodeLedgerFailed, candor.CodeLedgerLocked,
}

// declared reports a code that the tool has not declared, if it declares any.
func (c toolCall) declared(e *candor.Error) {
	if c.g.b.o.Undeclared == nil || c.tool == nil || c.tool.codes == nil {
		return
	}
	if code := e.Code(); !slices.Contains(c.tool.codes, code) && !slices.Contains(always, code) {
		c.g.b.o.Undeclared(c.tool.listed.Name, code)
	}
}
