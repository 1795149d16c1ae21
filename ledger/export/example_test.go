package export_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/candor-mcp/candor/internal/testing/sampleledger"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/export"
)

func ExampleWrite() {
	dir, _, _ := sampleledger.New()
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	r, err := ledger.OpenReader(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close() //nolint:errcheck // only read

	var out strings.Builder
	isFailure := func(l *ledger.Line) bool { return l.Kind == ledger.KindFailure }
	count, err := export.Write(&out, "csv", r.Entries(context.Background(), ledger.ReadOptions{Keep: isFailure}))
	header, _, _ := strings.Cut(out.String(), ",ref,")
	fmt.Println(count, header, err)
	// Output: 3 chain,seq,time,kind <nil>
}

func ExampleCount() {
	dir, _, _ := sampleledger.New()
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	r, err := ledger.OpenReader(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close() //nolint:errcheck // only read

	stats, err := export.Count(context.Background(), r, "code", ledger.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range stats.Buckets {
		fmt.Println(b.Name, b.Count)
	}
	// Output:
	// TIMEOUT 2
	// NOT_FOUND 1
}
