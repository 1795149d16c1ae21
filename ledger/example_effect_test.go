package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/ledger"
)

// An effect is reserved before it is performed, so that it cannot happen unrecorded.
func Example_effect() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()

	effect, err := l.Reserve(ctx, ledger.Entry{Tool: "write_file", Args: []byte(`{"path":"notes.txt"}`)})
	if err != nil {
		fmt.Println(candor.CodeOf(err).Symbol()) // AUDIT_LOG_FAILED: nothing was recorded, so do not perform the effect
		return
	}
	failure := candor.New(kaiza.FileWriteFailed, "", candor.WithTool("write_file"), candor.WithCause(errors.New("disk quota exceeded")))
	entry := ledger.EntryOf(failure)
	receipt, err := effect.Complete(ctx, entry)
	fmt.Println(receipt.Seq, err)
	fmt.Println(l.Close())
	// Output:
	// 3 <nil>
	// <nil>
}
