package natsstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// allSubjects matches the subjects of all chains.
const allSubjects = subjectPrefix + "*.*"

// chainOf returns the chain of a subject. It is false for names that no node has.
func chainOf(subject string) (fleet.Chain, bool) {
	node, name, _ := strings.Cut(strings.TrimPrefix(subject, subjectPrefix), ".")
	chain := fleet.Chain{Node: node, Name: name}
	return chain, chain.Check() == nil
}

// Chains lists the subjects that have messages. The server keeps this list in memory and builds it from the messages, so each message is
// under a subject of the list; the list is no evidence about messages that were lost. Subjects that are not the name of a chain are left
// out: Append writes none, and only a node that means harm has them, below its own name.
func (s *store) Chains(ctx context.Context) ([]fleet.Chain, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	var chains []fleet.Chain
	for offset := 0; ; {
		var page struct {
			Total int `json:"total"`
			State struct {
				Subjects map[string]uint64 `json:"subjects"`
			} `json:"state"`
		}
		request := map[string]any{"subjects_filter": allSubjects, "offset": offset}
		if err := s.call(ctx, "STREAM.INFO."+s.params.stream, request, &page); err != nil {
			return nil, s.failed("listing chains", err)
		}
		for subject := range page.State.Subjects {
			if chain, ok := chainOf(subject); ok {
				chains = append(chains, chain)
			}
		}
		offset += len(page.State.Subjects)
		if len(page.State.Subjects) == 0 || offset >= page.Total {
			break
		}
	}
	slices.SortFunc(chains, fleet.Chain.Compare)
	return slices.Compact(chains), nil // a page may repeat a subject if chains are added meanwhile
}

// Lines returns the messages of one subject up to the last one that the leader has when the iteration begins.
func (s *store) Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	return func(yield func(fleet.Stored, error) bool) {
		err := s.usable(ctx, chain)
		end := uint64(0)
		if err == nil {
			end, err = s.end(ctx, chain)
		}
		if err == nil && end > after {
			r := &reading{s: s, chain: chain, next: after + 1, end: end, yield: func(stored fleet.Stored) bool { return yield(stored, nil) }}
			err = r.all(ctx)
		}
		if err != nil {
			yield(fleet.Stored{}, s.failed("reading "+chain.String(), err))
		}
	}
}

// end returns the number of the last message of a chain, also if that is not an entry.
func (s *store) end(ctx context.Context, chain fleet.Chain) (uint64, error) {
	if _, err := s.confirm(ctx, false); err != nil {
		return 0, err
	}
	m, err := s.get(ctx, map[string]any{"last_by_subj": subjectOf(chain)})
	if err != nil || m == nil {
		return 0, err
	}
	return m.Sequence, nil
}

// Bounds of what a server sends without being asked again.
const (
	pullMessages = 500
	pullBytes    = 8 << 20 // more than the largest line
	pullExpires  = time.Second
	pullWait     = 3 * time.Second
	// patience is how long Lines keeps trying without receiving anything.
	patience = 30 * time.Second
)

// reading is the state of one iteration over the messages of a chain.
type reading struct {
	s     *store
	chain fleet.Chain
	next  uint64 // number of the next message that can come
	end   uint64 // number of the last one
	yield func(fleet.Stored) bool
}

// all reads through a consumer that is made again where the last message left off whenever anything is missing, so that no failure of a
// server or connection skips or repeats a message.
func (r *reading) all(ctx context.Context) error {
	progress := time.Now()
	for attempt := 0; ; attempt++ {
		before := r.next
		done, err := r.pull(ctx)
		if done {
			return nil
		}
		if r.next > before {
			progress, attempt = time.Now(), 0
		}
		if closed := r.s.open(ctx); closed != nil {
			return closed
		}
		if errors.Is(err, errDenied) || hasCode(err, codeNoStream) {
			return err
		}
		if time.Since(progress) > patience {
			return cmp.Or(err, error(nats.ErrTimeout))
		}
		if err := pause(ctx, backoff(attempt)); err != nil {
			return err
		}
	}
}

// pull reads through one consumer until it fails. It returns true if the iteration is over.
func (r *reading) pull(ctx context.Context) (done bool, err error) {
	name, err := r.createConsumer(ctx)
	if errors.Is(err, errDenied) || errors.Is(err, nats.ErrNoResponders) {
		return r.step(ctx) // a node has no right to create consumers
	}
	if err != nil {
		return false, err
	}
	defer r.deleteConsumer(ctx, name)
	// A channel, because the other kinds of subscription take a stored message with the headers of a status for the status.
	messages := make(chan *nats.Msg, 2*pullMessages)
	inbox, err := r.s.conn.ChanSubscribe(r.s.conn.NewInbox(), messages)
	if err != nil {
		return false, err
	}
	defer inbox.Unsubscribe() //nolint:errcheck // the connection may be closed
	expected := uint64(1)     // number of the next delivery
	for {
		if err := r.askForMore(name, inbox.Subject); err != nil {
			return false, err
		}
		before := r.next
		for range pullMessages {
			m, err := r.receive(ctx, messages)
			if err != nil {
				return false, err
			}
			if m == nil { // the end of what was asked for
				break
			}
			meta, err := m.Metadata()
			if err != nil || meta.Sequence.Consumer != expected || meta.Sequence.Stream < r.next {
				return false, errors.New("a message was lost on its way")
			}
			expected++
			if !r.deliver(meta.Sequence.Stream, m.Data) {
				return true, nil
			}
		}
		// Lines may have been removed during the iteration.
		m, err := r.get(ctx)
		if err != nil || m == nil || m.Sequence > r.end {
			return err == nil, err
		}
		if r.next == before { // the consumer is on a server that is behind, or lost its place
			return false, errors.New("the consumer has not sent what the stream has")
		}
	}
}

// get returns the next message, or nil if there is none.
func (r *reading) get(ctx context.Context) (*message, error) {
	return r.s.get(ctx, map[string]any{"seq": r.next, "next_by_subj": subjectOf(r.chain)})
}

// step reads message by message, which is slow and needs no right but that to read.
func (r *reading) step(ctx context.Context) (done bool, err error) {
	for {
		m, err := r.get(ctx)
		if err != nil {
			return false, err
		}
		if m == nil || !r.deliver(m.Sequence, m.Data) {
			return true, nil
		}
	}
}

// deliver passes one message on, and returns false if it was the last one or no more are wanted.
func (r *reading) deliver(sequence uint64, line []byte) bool {
	if sequence > r.end {
		return false
	}
	r.next = sequence + 1
	return r.yield(fleet.Stored{Chain: r.chain, Position: sequence, Line: line}) && sequence < r.end
}

// createConsumer creates a consumer without acknowledgements that the server removes soon after its last use.
func (r *reading) createConsumer(ctx context.Context) (string, error) {
	name, subject := "candor-"+nats.NewInbox()[len(nats.InboxPrefix):], subjectOf(r.chain)
	request := map[string]any{
		"stream_name": r.s.params.stream,
		"action":      "create",
		"config": jetstream.ConsumerConfig{
			Name: name, FilterSubject: subject, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: r.next,
			AckPolicy: jetstream.AckNonePolicy, MaxDeliver: 1, InactiveThreshold: 30 * time.Second, MemoryStorage: true, Replicas: 1,
		},
	}
	return name, r.s.call(ctx, "CONSUMER.CREATE."+r.s.params.stream+"."+name+"."+subject, request, nil)
}

func (r *reading) deleteConsumer(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = r.s.call(ctx, "CONSUMER.DELETE."+r.s.params.stream+"."+name, nil, nil) // the server removes it later if this fails
}

// askForMore requests the next messages; a status follows if they are fewer than a batch.
func (r *reading) askForMore(consumer, inbox string) error {
	body, err := json.Marshal(map[string]any{"batch": pullMessages, "max_bytes": pullBytes, "expires": pullExpires})
	if err != nil {
		return err
	}
	return r.s.conn.PublishRequest(r.s.prefix()+"CONSUMER.MSG.NEXT."+r.s.params.stream+"."+consumer, inbox, body)
}

// receive returns the next message, or nil if the server has answered the request for more.
func (r *reading) receive(ctx context.Context, messages <-chan *nats.Msg) (*nats.Msg, error) {
	timer := time.NewTimer(pullWait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.s.closed:
		return nil, errClosed
	case <-timer.C:
		return nil, nats.ErrTimeout
	case m, ok := <-messages:
		if !ok {
			return nil, nats.ErrConnectionClosed
		}
		if m.Reply != "" { // a stored message; statuses need no acknowledgement
			return m, nil
		}
		return nil, statusError(m.Header.Get("Status"), m.Header.Get("Description"))
	}
}

// statusError returns nil for a status that ends a request for more in the usual way.
func statusError(status, text string) error {
	switch {
	case status == "404", status == "408", status == "409" && (strings.Contains(text, "Exceeds MaxBytes") || text == "Batch Completed"):
		return nil
	default:
		return fmt.Errorf("the server ended the consumer: %s %s", status, text)
	}
}
