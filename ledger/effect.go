package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/candor-mcp/candor/internal/segment/format"
)

// reservation identifies a reserve entry, in the form in which other entries refer to it.
type reservation struct {
	Chain string `json:"chain,omitempty"` // empty if it is the chain of the entry that refers to it
	Seq   uint64 `json:"seq"`
	Ref   string `json:"ref,omitempty"`
	Call  string `json:"call,omitempty"`
	Tool  string `json:"tool,omitempty"`
}

// Effect is an effect that was reserved with [Ledger.Reserve] and not completed yet. It is safe for concurrent use.
type Effect struct {
	ledger  *Ledger
	receipt Receipt
	opened  reservation // as it was recorded

	mu   sync.Mutex
	done bool // guarded by mu: the completion is durable
}

// Reserve records that an effect is about to happen. When it returns a nil error the reservation is durable and the
// caller may perform the effect; otherwise the caller must not. Reserve sets e.Kind, and e.Call if it is empty. If
// the process crashes between Reserve and [Effect.Complete], the next process that opens the folder records the
// reservation as unfinished.
func (l *Ledger) Reserve(ctx context.Context, e Entry) (*Effect, error) {
	e.Kind = KindReserve
	if e.Call == "" {
		var random [8]byte
		_, _ = rand.Read(random[:]) // never fails, see crypto/rand
		e.Call = hex.EncodeToString(random[:])
	}
	opened := &reservation{Ref: label(e.Ref), Call: label(e.Call), Tool: label(e.Tool)}
	receipt, err := l.append(ctx, &e, opened, nil)
	if err != nil {
		return nil, err
	}
	opened.Chain, opened.Seq = receipt.Chain, receipt.Seq
	return &Effect{ledger: l, receipt: receipt, opened: *opened}, nil
}

// Call returns the id that the reservation and its completion share.
func (f *Effect) Call() string { return f.opened.Call }

// Complete records how the effect ended. It does so even if ctx is cancelled, because the effect has already
// happened. After an error Complete may be called again; after a success it returns an error. The entry holds e.Data
// as data.value, beside data.reserve.
func (f *Effect) Complete(ctx context.Context, e Entry) (Receipt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return Receipt{}, logFailed(errors.New("completing an effect: already completed"))
	}
	e.Kind, e.Call = KindComplete, f.opened.Call
	e.raw = completionData(&e, f.receipt)
	receipt, err := f.ledger.append(context.WithoutCancel(ctx), &e, nil, &f.opened)
	f.done = err == nil
	return receipt, err
}

// completionData returns the data of a completion: the reservation, followed by the caller's data as value.
func completionData(e *Entry, r Receipt) []byte {
	data := struct {
		Reserve reservation `json:"reserve"`
	}{reservation{Chain: r.Chain, Seq: r.Seq}}
	b := format.MustJSON(data)
	if e.Data.IsZero() {
		return b
	}
	b = append(b[:len(b)-1], `,"value":`...)
	return append(append(b, e.Data.String()...), '}')
}
