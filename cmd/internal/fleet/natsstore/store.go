package natsstore

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// store implements [fleet.Store].
type store struct {
	at     fleet.Location
	params params
	log    *slog.Logger
	conn   *nats.Conn
	denied denials

	mu        sync.Mutex
	known     map[fleet.Chain]position // the last message of a chain, as far as this store has seen
	confirmed time.Time                // when the leader was last known to have a majority

	batches  atomic.Int32 // whether the stream accepts batches: one of the constants below
	imported atomic.Bool  // whether the account of the node imports the API of JetStream
	closing  sync.Once
	closed   chan struct{}
}

const (
	batchesUnknown = iota
	batchesAllowed
	batchesRefused
)

// position is the last message of a subject.
type position struct {
	head     fleet.Head
	sequence uint64 // in the stream; 0 for none
}

// maxKnown bounds the memory for positions. They are only a way to avoid a request.
const maxKnown = 10_000

func subjectOf(chain fleet.Chain) string { return subjectPrefix + chain.Node + "." + chain.Name }

var errClosed = candor.New(candor.CodeUnavailable, "the store is closed")

// usable returns an error if a call cannot be made.
func (s *store) usable(ctx context.Context, chain fleet.Chain) error {
	if err := chain.Check(); err != nil {
		return err
	}
	return s.open(ctx)
}

func (s *store) open(ctx context.Context) error {
	select {
	case <-s.closed:
		return errClosed
	default:
		return s.failed("cancelled before it began", ctx.Err())
	}
}

func (s *store) remember(chain fleet.Chain, at position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxKnown {
		clear(s.known)
	}
	s.known[chain] = at
}

func (s *store) forget(chain fleet.Chain) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, chain)
}

func (s *store) recall(chain fleet.Chain) (position, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.known[chain]
	return at, ok
}

// Close ends the connection.
func (s *store) Close() error {
	s.closing.Do(func() {
		close(s.closed)
		s.conn.Close()
	})
	return nil
}

// Head reads the last message of a chain from the leader of the stream.
//
// A leader that was cut off from the others believes for some seconds that it still leads. Its answer would hide lines that a new leader
// has acknowledged, so Head waits until a majority has been in contact with the leader after the answer; see [store.confirm].
func (s *store) Head(ctx context.Context, chain fleet.Chain) (fleet.Head, error) {
	if err := s.usable(ctx, chain); err != nil {
		return fleet.Head{}, err
	}
	at, err := s.confirmedLast(ctx, chain)
	return at.head, s.failed("reading the head of "+chain.String(), err)
}

// last reads the last message of a chain.
func (s *store) last(ctx context.Context, chain fleet.Chain) (position, error) {
	m, err := s.get(ctx, map[string]any{"last_by_subj": subjectOf(chain)})
	if err != nil || m == nil {
		return position{}, err
	}
	head, err := fleet.HeadOf(chain, m.Data)
	return position{head: head, sequence: m.Sequence}, err
}

// confirmedLast is last, but never the answer of a server that leads no more.
func (s *store) confirmedLast(ctx context.Context, chain fleet.Chain) (position, error) {
	for {
		at, err := s.last(ctx, chain)
		if err != nil {
			return at, err
		}
		before, ok := s.recall(chain)
		behind := ok && at.sequence < before.sequence // an old leader, or lines were removed
		fresh, err := s.confirm(ctx, behind)
		if err != nil {
			return at, err
		}
		if !fresh {
			s.remember(chain, at)
			return at, nil
		}
		again, err := s.last(ctx, chain) // two leaders may have answered the two requests
		if err != nil || again == at {
			s.remember(chain, again)
			return again, err
		}
	}
}

// confirmFor is how long a confirmed leader is believed without asking again. Servers wait at least four seconds for a silent leader
// before they elect another one.
const confirmFor = 2 * time.Second

// confirm waits until a majority of the replicas has answered the leader after the call began. The state of the stream says when the
// leader heard from each of them last; without other traffic that is once per second. It returns false if that was confirmed a
// moment ago and it did not ask again.
func (s *store) confirm(ctx context.Context, always bool) (asked bool, err error) {
	began := time.Now()
	s.mu.Lock()
	recent := began.Sub(s.confirmed) < confirmFor
	s.mu.Unlock()
	if recent && !always {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	for {
		sent := time.Since(began)
		info, err := s.info(ctx)
		if err != nil {
			return true, err
		}
		if hasMajority(info.Cluster, sent) {
			s.noteMajority(began)
			return true, nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return true, errors.Join(errNoMajority, err)
		}
	}
}

// noteMajority notes that the leader had a majority at some time after at.
func (s *store) noteMajority(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.After(s.confirmed) {
		s.confirmed = at
	}
}

var errNoMajority = errors.New("the leader of the stream cannot reach a majority of its replicas")

// hasMajority reports whether a leader and those replicas that it heard from within a time are more than half of all.
func hasMajority(cluster *jetstream.ClusterInfo, within time.Duration) bool {
	if cluster == nil || len(cluster.Replicas) == 0 {
		return true // one server, or one replica
	}
	if cluster.Leader == "" {
		return false
	}
	present := 1
	for _, peer := range cluster.Replicas {
		if !peer.Offline && peer.Active > 0 && peer.Active < within {
			present++
		}
	}
	return present > (len(cluster.Replicas)+1)/2
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
