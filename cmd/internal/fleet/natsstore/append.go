package natsstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// A batch is atomic: the server stores all of it or nothing. It accepts at most 1000 messages in one. The size is ours,
// so that no server has to hold or replicate much at once.
const (
	maxBatchLines = 1000
	maxBatchBytes = 1 << 20
)

// Append publishes the lines with the number of the chain's last message as a condition. Lines that fit in one batch
// are stored together or not at all; more are stored batch by batch.
func (s *store) Append(ctx context.Context, chain fleet.Chain, after fleet.Head, lines [][]byte) error {
	if _, err := fleet.CheckLines(chain, after, lines); err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	for part := range parts(lines) {
		head, err := s.appendPart(ctx, chain, after, part)
		if err != nil {
			s.forget(chain)
			var conflict *fleet.ConflictError
			if errors.As(err, &conflict) {
				return err
			}
			return s.failed("appending to "+chain.String(), err)
		}
		after = head
	}
	return nil
}

// parts splits lines into batches.
func parts(lines [][]byte) iter.Seq[[][]byte] {
	return func(yield func([][]byte) bool) {
		for len(lines) > 0 {
			count, size := 1, len(lines[0])
			for count < min(len(lines), maxBatchLines) && size+len(lines[count]) <= maxBatchBytes {
				size += len(lines[count])
				count++
			}
			if !yield(lines[:count]) {
				return
			}
			lines = lines[count:]
		}
	}
}

// appendPart appends one batch. It tries again only after an answer that says that nothing was stored.
func (s *store) appendPart(ctx context.Context, chain fleet.Chain, after fleet.Head, lines [][]byte) (fleet.Head, error) {
	head, err := fleet.HeadOf(chain, lines[len(lines)-1])
	if err != nil {
		return head, err
	}
	p := publication{subject: subjectOf(chain), lines: lines}
	if p.after, err = s.sequenceOf(ctx, chain, after); err != nil {
		return head, err
	}
	for attempt := 0; ; attempt++ {
		sent := time.Now()
		sequence, err := s.publish(ctx, p, attempt)
		if err == nil {
			s.noteMajority(sent) // which has the lines
			s.remember(chain, position{head: head, sequence: sequence})
			return head, nil
		}
		stored, err := s.afterRefusal(ctx, chain, p, after, err, attempt)
		if err != nil || stored {
			return head, err
		}
	}
}

// sequenceOf returns the number of the chain's last message if that is the expected head, and otherwise a [*fleet.ConflictError].
func (s *store) sequenceOf(ctx context.Context, chain fleet.Chain, after fleet.Head) (uint64, error) {
	at, ok := s.recall(chain)
	if ok && at.head == after {
		return at.sequence, nil
	}
	if !ok && after == (fleet.Head{}) {
		return 0, nil // the server decides whether the chain is new
	}
	at, err := s.confirmedLast(ctx, chain)
	if err != nil {
		return 0, err
	}
	if at.head != after {
		return 0, &fleet.ConflictError{Chain: chain, Head: at.head}
	}
	return at.sequence, nil
}

// afterRefusal reports whether the lines of a refused publication are stored all the same. It returns neither that nor
// an error if they can be sent again.
func (s *store) afterRefusal(ctx context.Context, chain fleet.Chain, p publication, after fleet.Head, err error, attempt int) (stored bool, _ error) {
	switch {
	case hasCode(err, codeBatchDisabled, codeBatchTooLarge):
		s.batches.Store(batchesRefused)
		return false, nil
	case hasCode(err, codeBatchTooMany, codeBatchIncomplete):
		return false, pause(ctx, backoff(attempt)) // other nodes have batches open, perhaps on purpose; the server reports it for the first message only
	case !hasCode(err, codeWrongLast, codeWrongLastUnknown):
		return false, err
	}
	next, err := s.get(ctx, map[string]any{"seq": p.after + 1, "next_by_subj": p.subject})
	if err != nil {
		return false, err
	}
	at, err := s.confirmedLast(ctx, chain)
	if err != nil {
		return false, err
	}
	return s.storedAfterAll(ctx, chain, p, next, at, after, attempt)
}

// storedAfterAll finds out whether lines were stored that a server has refused. A leader that was stopped for a while still receives each
// message beside the new leader, and its answer may be the first one. So a line that follows the expected head proves something, because
// a server shows a line only after a majority has it; that a server has no such line proves nothing.
func (s *store) storedAfterAll(ctx context.Context, chain fleet.Chain, p publication, next *message, at position, after fleet.Head, attempt int) (bool, error) {
	lost := at.sequence <= p.after && at.head != after // the store was set back
	switch head, err := fleet.HeadOf(chain, p.lines[len(p.lines)-1]); {
	case err != nil:
		return false, err
	case lost, next != nil && !bytes.Equal(next.Data, p.lines[0]):
		return false, &fleet.ConflictError{Chain: chain, Head: at.head}
	case next == nil:
		return false, pause(ctx, backoff(attempt)) // another line is being stored, which becomes visible or fails; or an old leader answered
	case at.head != head && len(p.lines) > 1: // the caller finds out how many
		return false, errors.New("lines were stored that the server had refused")
	}
	return true, nil
}

func backoff(attempt int) time.Duration {
	base := min(time.Millisecond<<min(attempt, 7), 100*time.Millisecond)
	return base/2 + rand.N(base) //nolint:gosec // spreads attempts
}

// publication is lines for one subject.
type publication struct {
	subject string
	after   uint64 // number of the last message of the subject
	lines   [][]byte
}

// publicationAck is the answer to a message.
type publicationAck struct {
	Sequence uint64 `json:"seq"`
	Batch    string `json:"batch"`
	Count    int    `json:"count"`
}

// maxBatchAttempts is after how many refusals a batch is sent as single messages.
const maxBatchAttempts = 8

// publish stores the lines and returns the number of the last one.
func (s *store) publish(ctx context.Context, p publication, attempt int) (uint64, error) {
	if len(p.lines) > 1 && attempt < maxBatchAttempts {
		allowed, err := s.allowsBatches(ctx)
		if err != nil {
			return 0, err
		}
		if allowed {
			return s.publishBatch(ctx, p)
		}
	}
	return s.publishSingly(ctx, p)
}

// allowsBatches reports whether the stream accepts batches. A server before 2.12 does not know them: it would store the
// messages of a batch one by one, and it does not show the setting.
func (s *store) allowsBatches(ctx context.Context) (bool, error) {
	if state := s.batches.Load(); state != batchesUnknown {
		return state == batchesAllowed, nil
	}
	info, err := s.info(ctx)
	if err != nil {
		return false, err
	}
	state := int32(batchesRefused)
	if info.Config.AllowAtomicPublish {
		state = batchesAllowed
	}
	s.batches.CompareAndSwap(batchesUnknown, state)
	return s.batches.Load() == batchesAllowed, nil
}

// message returns the message for a line.
func (p *publication) message(i int) *nats.Msg {
	m := nats.NewMsg(p.subject)
	m.Data = p.lines[i]
	return m
}

func (p *publication) expect(m *nats.Msg, stream string, last uint64) {
	m.Header.Set("Nats-Expected-Stream", stream)
	m.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(last, 10))
}

// publishSingly stores the lines one by one, each on the condition that the one before is the last.
func (s *store) publishSingly(ctx context.Context, p publication) (uint64, error) {
	last := p.after
	for i := range p.lines {
		m := p.message(i)
		p.expect(m, s.params.stream, last)
		ack, err := s.send(ctx, m)
		if err != nil && i > 0 {
			return 0, fmt.Errorf("%d of %d lines were stored: %w", i, len(p.lines), &partialError{err})
		}
		if err != nil {
			return 0, err
		}
		last = ack.Sequence
	}
	return last, nil
}

// partialError hides the number of an error of JetStream: some lines were stored, so the same lines must not be sent again.
type partialError struct{ err error }

func (e *partialError) Error() string { return e.err.Error() }

// publishBatch stores the lines together. Only the first message has a condition: the server refuses a second one for
// the same subject, and stores the batch without anything between its messages.
func (s *store) publishBatch(ctx context.Context, p publication) (uint64, error) {
	id := nuid.Next()
	for i := range p.lines {
		m := p.message(i)
		m.Header.Set("Nats-Batch-Id", id)
		m.Header.Set("Nats-Batch-Sequence", strconv.Itoa(i+1))
		if i == 0 {
			p.expect(m, s.params.stream, p.after)
		}
		if i < len(p.lines)-1 {
			if err := s.conn.PublishMsg(m); err != nil {
				return 0, err // without its last message the server drops the batch
			}
			continue
		}
		m.Header.Set("Nats-Batch-Commit", "1")
		ack, err := s.send(ctx, m)
		if err != nil {
			return 0, err
		}
		if ack.Batch != id || ack.Count != len(p.lines) {
			return 0, errors.New("the server did not confirm the batch")
		}
		return ack.Sequence, nil
	}
	return 0, errors.New("no lines")
}

func (s *store) send(ctx context.Context, m *nats.Msg) (publicationAck, error) {
	var ack publicationAck
	answer, err := s.request(ctx, m)
	if err != nil {
		return ack, err
	}
	if err := decode(answer.Data, &ack); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			err = errors.New("the answer of the server is not valid")
		}
		return ack, err
	}
	if ack.Sequence == 0 {
		return ack, errors.New("the server did not confirm the message")
	}
	return ack, nil
}
