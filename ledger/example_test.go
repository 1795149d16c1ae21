package ledger_test

import (
	"context"
	"fmt"
	"os"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	ctx := context.Background()

	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	failure := candor.New(candor.CodeTimeout, "The page did not answer.", candor.WithTool("fetch"))
	if _, err := l.Append(ctx, ledger.EntryOf(failure)); err != nil {
		fmt.Println(err) // do not send the reply
		return
	}
	if err := l.Close(); err != nil {
		fmt.Println(err)
		return
	}

	r, err := ledger.OpenReader(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close() //nolint:errcheck // only read
	isFailure := func(l *ledger.Line) bool { return l.Kind == ledger.KindFailure }
	for line, err := range r.Entries(ctx, ledger.ReadOptions{Keep: isFailure}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		record, err := line.Record()
		fmt.Println(record.Kind, record.Tool, record.Code, err)
	}
	// Output: failure fetch TIMEOUT <nil>
}
