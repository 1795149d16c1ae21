package ship

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// demand checks that the acknowledgement of the store is what the mode promises. The store is known to promise less if found is true.
func (s *Shipper) demand(ctx context.Context, store fleet.Store) (found bool, err error) {
	d, err := store.Durability(ctx)
	if err != nil {
		return false, fmt.Errorf("ack=%s: how durable entries are in %s could not be found out: %s", s.config.At.Mode, s.config.At, fleet.Reason(err))
	}
	switch {
	case s.config.At.Mode == fleet.ModeQuorum && !d.Quorum:
		return !d.Unverified, refusal(s.config.At, "a store that has each entry on the disks of a majority of at least three machines", d)
	case s.config.At.Mode == fleet.ModeBoth && !d.Synced:
		return !d.Unverified, refusal(s.config.At, "a store that has synced each entry to disk", d)
	}
	return false, nil
}

// recheck checks from time to time whether the store still promises what the mode needs: a server may have been restarted with another
// configuration. A store that cannot be asked is not a reason to refuse entries, because a majority of its machines still acknowledges them.
func (s *Shipper) recheck() {
	tick := time.NewTicker(s.config.recheck)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(s.ctx, operation)
		store, err := s.open(ctx)
		found := false
		if err == nil {
			found, err = s.demand(ctx, store)
		}
		cancel()
		if err == nil || found {
			s.promised(err)
		}
	}
}

// promised notes whether the store promises what the mode needs, and logs a change.
func (s *Shipper) promised(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil && s.weak == nil:
		s.config.Log.Error("the store does not promise enough any more, new ledger entries are refused", slog.Any("error", err))
	case err == nil && s.weak != nil:
		s.config.Log.Info("the store promises enough again, ledger entries are accepted")
	}
	s.weak = err
}

// refusal is the error for a store that does not promise enough.
func refusal(at fleet.Location, need string, d fleet.Durability) error {
	text := fmt.Sprintf("ack=%s needs %s before it is acknowledged, and %s does not promise that", at.Mode, need, at)
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	change := "use ack=local"
	if d.Change != "" {
		change = d.Change + ", or use ack=local"
	}
	return fmt.Errorf("%s (hint: %s)", text, change)
}
