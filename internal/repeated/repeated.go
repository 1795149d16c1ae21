// Package repeated finds the failures that are in a ledger twice: a server with Candor recorded them, and so did a gateway in front of it.
// The entry of the gateway has the ref of the server's entry in data.upstream_ref. Counts leave out the server's entry, because the client
// saw the ref of the gateway's.
package repeated

import (
	"bytes"
	"context"
	"time"

	"github.com/candor-mcp/candor/ledger"
)

// Ref returns the ref under which the server behind a gateway recorded the failure of an entry itself, or "".
func Ref(l *ledger.Line) string { return member(l, `"upstream_ref":"`) }

// member returns a member whose value is a text without escapes. In texts before the member its name has escaped quotes.
func member(l *ledger.Line, name string) string {
	_, rest, _ := bytes.Cut(l.Raw(), []byte(name))
	value, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(value)
}

// Find reads the entries since a time, and returns a function that reports whether a line is the server's entry of a failure that a gateway
// recorded too.
func Find(ctx context.Context, r *ledger.Reader, since time.Time) (func(*ledger.Line) bool, error) {
	refs := map[string]bool{}
	for l, err := range r.Entries(ctx, ledger.ReadOptions{Since: since}) {
		if err != nil {
			return nil, err
		}
		if ref := Ref(l); ref != "" {
			refs[ref] = true
		}
	}
	return func(l *ledger.Line) bool { return len(refs) > 0 && refs[member(l, `,"ref":"`)] }, ctx.Err()
}
