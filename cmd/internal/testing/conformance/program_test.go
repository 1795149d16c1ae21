package conformance_test

import (
	"context"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
)

func TestAProgramFetchesOrWorksInAFolderThatIsGoneAfterwards(t *testing.T) {
	var all bool
	var dir string
	p := conformance.Program{
		Name: "trial", Limit: time.Minute,
		Flags: func(f *flag.FlagSet) { f.BoolVar(&all, "all", false, "") },
		Fetch: func(_ context.Context, _ conformance.Toolbox, say func(string, ...any)) error {
			say("fetching %d", 1)
			return nil
		},
		Work: func(_ context.Context, _ conformance.Toolbox, given string, _ io.Writer) error {
			dir = given
			_, err := os.Stat(dir)
			return err
		},
	}
	var out strings.Builder
	if err := p.Run(t.Context(), []string{"-all", "-install"}, &out); err != nil || !all || dir != "" || out.String() != "fetching 1\n" {
		t.Errorf("to fetch: %v, all %v, worked in %q, said %q", err, all, dir, out.String())
	}
	if err := p.Run(t.Context(), nil, &out); err != nil || dir == "" || out.String() != "fetching 1\n" {
		t.Errorf("to work: %v in %q, said %q", err, dir, out.String())
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}
