package natsstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// streamConfig returns the stream that the store needs.
//
// Single messages can never be deleted. Purging is not forbidden by the stream, because retention needs it ([store.Remove]) and the
// setting could not be taken back; instead no node has the right to it. Nothing expires by itself: a message that the server drops because
// of its age or a limit would be missing from a chain without a signed record. Direct reads are off because followers answer them, and
// because they would let a node that names a foreign chain as the address of the answer copy bytes of its choice there.
func (s *store) streamConfig(o fleet.SetupOptions) jetstream.StreamConfig {
	limit := o.MaxBytes
	if limit == 0 {
		limit = -1
	}
	return jetstream.StreamConfig{
		Name: s.params.stream, Subjects: []string{allSubjects}, Description: "lines of the ledgers of all nodes",
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
		Replicas: o.Replicas, MaxBytes: limit, MaxMsgs: -1, MaxMsgsPerSubject: -1, MaxConsumers: -1, MaxMsgSize: -1,
		DenyDelete: true, AllowAtomicPublish: true,
	}
}

// Setup creates the stream. An existing one is changed only where it differs from what the store needs.
func (s *store) Setup(ctx context.Context, o fleet.SetupOptions) error {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	for attempt := 0; ; attempt++ {
		err := s.open(ctx)
		if err == nil {
			err = s.setUp(ctx, o)
		}
		if !fleet.IsTemporary(err) || hasCode(err, codeNotClustered) || errors.Is(err, errClosed) || ctx.Err() != nil {
			return err
		}
		if attempt == 0 {
			s.log.Info("waiting for the servers", slog.String("store", s.at.String()), slog.String("error", fleet.Reason(err)))
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(setupPause):
		}
	}
}

const (
	// setupTimeout limits Setup as a whole. Servers that have just started elect a leader first, which takes longer than one request waits.
	setupTimeout = 30 * time.Second
	setupPause   = 500 * time.Millisecond
)

func (s *store) setUp(ctx context.Context, o fleet.SetupOptions) error {
	if o.Replicas < 0 || o.Replicas > 5 {
		return invalid("%d replicas: JetStream keeps 1 to 5 (hint: use 3)", o.Replicas)
	}
	if size := s.conn.MaxPayload(); size < fleet.MaxLine {
		s.log.Warn("the server accepts only small messages; a line may have up to 2 MiB (set max_payload: 4MB in its configuration)", slog.Int64("max_payload", size))
	}
	info, err := s.info(ctx)
	if hasCode(err, codeNoStream) {
		return s.failed("creating the stream", s.create(ctx, o))
	}
	if err != nil {
		return s.failed("reading the stream", err)
	}
	config, differs := s.corrected(info.Config, o)
	if !differs {
		return nil
	}
	err = s.call(ctx, "STREAM.UPDATE."+s.params.stream, config, nil)
	s.batches.Store(batchesUnknown)
	return s.failed("changing the stream", err)
}

// create creates the stream. Without a wish it has three replicas in a cluster, and one on a single server.
func (s *store) create(ctx context.Context, o fleet.SetupOptions) error {
	chosen := o.Replicas == 0
	if chosen {
		o.Replicas = 3
	}
	err := s.call(ctx, "STREAM.CREATE."+s.params.stream, s.streamConfig(o), nil)
	if chosen && hasCode(err, codeNotClustered) {
		o.Replicas = 1
		err = s.call(ctx, "STREAM.CREATE."+s.params.stream, s.streamConfig(o), nil)
	}
	s.batches.Store(batchesUnknown)
	return err
}

// corrected returns the configuration of a stream with what the store needs, and whether that is a change. Names and limits that an
// operator may choose stay.
func (s *store) corrected(config jetstream.StreamConfig, o fleet.SetupOptions) (jetstream.StreamConfig, bool) {
	want := s.streamConfig(o)
	differs := false
	set(&differs, &config.Discard, want.Discard)
	set(&differs, &config.DenyDelete, true)
	set(&differs, &config.AllowAtomicPublish, true)
	set(&differs, &config.AllowDirect, false)
	set(&differs, &config.AllowRollup, false)
	set(&differs, &config.MaxAge, 0)
	set(&differs, &config.MaxMsgs, -1)
	set(&differs, &config.MaxMsgsPerSubject, -1)
	if o.Replicas > 0 {
		set(&differs, &config.Replicas, o.Replicas)
	}
	if o.MaxBytes > 0 {
		set(&differs, &config.MaxBytes, o.MaxBytes)
	}
	if len(config.Subjects) != 1 || config.Subjects[0] != allSubjects {
		config.Subjects, differs = want.Subjects, true
	}
	return config, differs
}

func set[T comparable](differs *bool, field *T, want T) {
	if *field != want {
		*field, *differs = want, true
	}
}

// Remove purges the messages of a chain before the first one that is not an entry up to through. So a line that no honest node has
// written stays, and with it what follows.
func (s *store) Remove(ctx context.Context, chain fleet.Chain, through uint64) error {
	if err := s.usable(ctx, chain); err != nil {
		return err
	}
	keep, err := s.firstToKeep(ctx, chain, through)
	if err != nil || keep == 0 {
		return err
	}
	var result struct {
		Success bool `json:"success"`
	}
	request := map[string]any{"filter": subjectOf(chain), "seq": keep}
	err = s.call(ctx, "STREAM.PURGE."+s.params.stream, request, &result)
	if err == nil && !result.Success {
		err = errors.New("the server did not confirm the removal")
	}
	s.forget(chain)
	return s.failed("removing entries of "+chain.String(), err)
}

// firstToKeep returns the number of the message before which a chain is purged, or 0 if there is nothing to remove.
func (s *store) firstToKeep(ctx context.Context, chain fleet.Chain, through uint64) (uint64, error) {
	last := uint64(0)
	for stored, err := range s.Lines(ctx, chain, 0) {
		if err != nil {
			return 0, err
		}
		entry, err := ledger.ParseLine(stored.Line)
		if err != nil || !entry.In(chain.Name) || entry.Seq > through {
			if last == 0 {
				return 0, nil
			}
			return stored.Position, nil
		}
		last = stored.Position
	}
	if last == 0 {
		return 0, nil
	}
	return last + 1, nil
}

// Grant returns the account of a node.
func (s *store) Grant(node string) (string, error) {
	if !fleet.ValidNode(node) {
		return "", candor.New(candor.CodeInvalidArguments, fmt.Sprintf("%q is not the name of a node", node))
	}
	return GrantText(s.params.stream, node), nil
}

var _ fleet.Store = (*store)(nil)
