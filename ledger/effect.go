package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/candor-mcp/candor/ledger/internal/format"
)

// reservation is an effect that was announced: what an entry says of one that has not ended.
type reservation struct {
	Chain string `json:"chain,omitempty"` // only where it is not the chain of the entry
	Seq   uint64 `json:"seq"`
	Ref   string `json:"ref,omitempty"`
	Call  string `json:"call,omitempty"`
	Tool  string `json:"tool,omitempty"`
}

// Effect is something that was announced and is about to happen. It is safe for concurrent use.
type Effect struct {
	ledger  *Ledger
	receipt Receipt
	opened  reservation // as it was recorded

	mu   sync.Mutex
	done bool // guarded by mu: the completion is durable
}

// Reserve records that an effect is about to happen. When it returns without an error that is durable, and the effect may be performed; with one it
// must not be. The kind of e is set, and its call too if it is empty. Between Reserve and [Effect.Complete] a crash leaves the reservation open,
// and the next process that opens the folder records that.
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

// Receipt names the reservation.
func (f *Effect) Receipt() Receipt { return f.receipt }

// Call returns the id that joins the reservation and its completion.
func (f *Effect) Call() string { return f.opened.Call }

// Complete records how the effect ended. The effect has happened, so a cancelled ctx does not stop it from being recorded. After an error it may
// be tried again; after a success it is refused. What e has as Data stands in the entry as data.value, beside data.reserve.
func (f *Effect) Complete(ctx context.Context, e Entry) (Receipt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return Receipt{}, logFailed(errors.New("completing an effect: already completed"))
	}
	e.Kind, e.Call = KindComplete, f.opened.Call
	if !f.receipt.Unrecorded {
		e.raw = completionData(&e, f.receipt)
	}
	receipt, err := f.ledger.append(context.WithoutCancel(ctx), &e, nil, &f.opened)
	f.done = err == nil
	return receipt, err
}

// completionData puts the reservation's name before what the caller wants to say.
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
