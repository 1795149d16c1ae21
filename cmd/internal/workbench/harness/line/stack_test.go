package line_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/line"
	"github.com/candor-mcp/candor/codes/kg"
)

var frame = regexp.MustCompile(`^(line_test|strings)\.[^ /\\]+ \([^ /\\]+\.go:\d+\)$`)

func failDeep(n int) error {
	if n > 0 {
		return failDeep(n - 1)
	}
	return domain.Fail(kg.Full, "", nil)
}

// stackDomain is outside of the package, whose frames are never shown.
var stackDomain = domain.Domain{Name: "kg", Methods: []domain.Method{
	{Name: "s/panic", Run: func(context.Context, json.RawMessage) (any, error) { return strings.Repeat("x", -1), nil }},
	{Name: "s/fail", Run: domain.Bind(func(context.Context, struct{}) (any, error) { return nil, failDeep(5) })},
}}

func TestVerboseBoundsTheStack(t *testing.T) {
	for _, method := range []string{"s/panic", "s/fail"} {
		for _, verbose := range []int{0, 1, 2, -1} {
			s, err := line.New([]domain.Domain{stackDomain}, line.Options{Stack: candor.StackPolicy{Verbose: verbose}})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			in := strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, method))
			if err := s.Serve(context.Background(), in, &out); err != nil {
				t.Fatal(err)
			}
			checkStack(t, out.String(), verbose)
		}
	}
}

func checkStack(t *testing.T, output string, verbose int) {
	t.Helper()
	_, text, _ := strings.Cut(output, "\n")
	var response struct {
		Error struct{ Data struct{ Stack string } }
	}
	if err := json.Unmarshal([]byte(text), &response); err != nil {
		t.Fatal(err)
	}
	stack := response.Error.Data.Stack
	if verbose == 0 {
		if stack != "" || strings.Contains(text, ".go:") {
			t.Errorf("a stack that was not asked for: %s", text)
		}
		return
	}
	frames := strings.Split(stack, "\n")
	if verbose > 0 && len(frames) != verbose || len(frames) < 1 {
		t.Errorf("%d frames wanted: %q", verbose, frames)
	}
	for _, f := range frames {
		if !frame.MatchString(f) {
			t.Errorf("%q", f)
		}
	}
}
