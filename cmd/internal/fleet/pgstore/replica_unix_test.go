//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/cmd/internal/testing/pgtest"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// TestThreeMachines starts a primary with two standbys of which one has to confirm each commit. Its parts use them one after the other.
func TestThreeMachines(t *testing.T) {
	primary := startServer(t, "fsync=on", "wal_level=replica", "max_connections=200")
	setUp(t, primary)
	var standbys []*pgtest.Server
	for _, name := range []string{"db2", "db3"} {
		standbys = append(standbys, primary.Standby(t, name))
	}
	setStandbyNames(t, primary, "ANY 1 (db2, db3)")
	for _, part := range []struct {
		name string
		run  func(t *testing.T, primary *pgtest.Server, standbys []*pgtest.Server)
	}{
		{"QuorumIsClaimedOnlyIfItWasVerified", quorumIsVerified},
		{"CancelledWaitForStandbysIsNoAcknowledgement", cancelledWait},
		{"AcknowledgedLinesSurviveTheLossOfThePrimary", lossOfPrimary},
	} {
		awaitStandbys(t, primary, 2)
		if !t.Run(part.name, func(t *testing.T) { part.run(t, primary, standbys) }) {
			return
		}
	}
}

func setStandbyNames(t *testing.T, server *pgtest.Server, names string) {
	t.Helper()
	server.SQL(t, "postgres", fmt.Sprintf("ALTER SYSTEM SET synchronous_standby_names = '%s'", names))
	server.SQL(t, "postgres", "SELECT pg_reload_conf()")
	wait.Until(t, "the new setting", func() bool { return server.SQL(t, "postgres", "SHOW synchronous_standby_names") == names })
}

func awaitStandbys(t *testing.T, server *pgtest.Server, n int) {
	t.Helper()
	wait.Until(t, "standbys", func() bool {
		return server.SQL(t, "postgres", "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == fmt.Sprint(n)
	})
}

// lossOfPrimary has writers while the primary is lost, and promotes the standby that has received more. Nothing
// that was acknowledged is missing there.
func lossOfPrimary(t *testing.T, primary *pgtest.Server, standbys []*pgtest.Server) {
	all := socketURL("admin", "candor", primary, standbys[0], standbys[1])
	if d, err := openURL(t, all).Durability(t.Context()); err != nil || !d.Quorum || d.Replicas != 2 || !d.Synced {
		t.Fatalf("Durability: %+v, %v", d, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	writers, wait := startWriters(ctx, t, 8, 300, func(string) fleet.Store { return openURL(t, all) })
	awaitProgress(ctx, t, writers, 200)
	primary.Crash()
	atLoss := make([]uint64, len(writers))
	for i, w := range writers {
		atLoss[i] = w.acked.Load()
	}
	newest, other := standbys[0], standbys[1]
	const received = "SELECT pg_last_wal_receive_lsn() - '0/0'"
	if len(other.SQL(t, "postgres", received)) > len(newest.SQL(t, "postgres", received)) ||
		other.SQL(t, "postgres", received) > newest.SQL(t, "postgres", received) {
		newest, other = other, newest
	}
	other.Crash()
	other.Follow(t, newest)
	newest.Promote(t)
	other.Run(t)
	wait()
	after := openURL(t, socketURL("admin", "candor", newest))
	for i, w := range writers {
		if n := len(readAll(t.Context(), t, after, w.chain)); uint64(n) < atLoss[i] {
			t.Errorf("%s has %d lines, and %d were acknowledged", w.chain, n, atLoss[i])
		}
		wantChain(t, after, w.chain, w.lines)
	}
}

// cancelledWait ends the wait for standbys that are away. PostgreSQL then reports success with a warning, and the
// line is visible although it is on one machine only.
func cancelledWait(t *testing.T, primary *pgtest.Server, standbys []*pgtest.Server) {
	createRole(t, primary, "quiet")
	primary.SQL(t, "candor", "GRANT candor_operator TO quiet; ALTER ROLE quiet SET client_min_messages = error; ALTER ROLE quiet SET synchronous_commit = local")
	store := open(t, primary, "quiet", "candor")
	chain := fleet.Chain{Node: "n", Name: "c"}
	lines := storetest.MakeLines(chain, fleet.Head{}, 3, 10)
	head := appendLines(t, store, chain, fleet.Head{}, lines[:1])
	for _, standby := range standbys {
		standby.Crash()
	}
	cancelWait := func() {
		const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
		wait.Until(t, "a wait for standbys", func() bool { return primary.SQL(t, "postgres", "SELECT count(*) "+waiting) == "1" })
		primary.SQL(t, "postgres", "SELECT pg_cancel_backend(pid) "+waiting)
	}
	outcome := make(chan error, 1)
	go func() { outcome <- store.Append(t.Context(), chain, head, lines[1:2]) }()
	cancelWait()
	wantClass(t, "Append", <-outcome, candor.ClassUnavailable)

	// The line is there, so its head or a conflict must not be returned as if it were durable.
	wantChain(t, store, chain, lines[:2])
	go func() { _, err := store.Head(t.Context(), chain); outcome <- err }()
	cancelWait()
	wantClass(t, "Head", <-outcome, candor.ClassUnavailable)
	go func() { outcome <- store.Append(t.Context(), chain, head, lines[1:2]) }()
	cancelWait()
	err := <-outcome
	wantClass(t, "Append again", err, candor.ClassUnavailable)
	if conflict := (*fleet.ConflictError)(nil); errors.As(err, &conflict) {
		t.Error("the conflict presents a line as stored that is on one machine only")
	}

	standbys[0].Run(t)
	standbys[1].Run(t)
	if got, err := store.Head(t.Context(), chain); err != nil || got != storetest.HeadOf(t, lines[1]) {
		t.Errorf("Head with a standby: %v, %v", got, err)
	}
}

// quorumIsVerified asks for the durability while the settings and the standbys change. TestQuorumNeedsAMajorityOfSyncedMachines has all rules.
func quorumIsVerified(t *testing.T, primary *pgtest.Server, standbys []*pgtest.Server) {
	store := open(t, primary, "admin", "candor")
	want := func(what, reason string) {
		t.Helper()
		d, err := store.Durability(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d.Quorum != (reason == "") || !strings.Contains(d.Reason, reason) || d.Quorum != (d.Change == "") {
			t.Errorf("%s: %+v, want the reason %q", what, d, reason)
		}
	}
	want("all is well", "")
	setStandbyNames(t, primary, "*")
	want("any standby", "cannot be checked")
	setStandbyNames(t, primary, "")
	want("no synchronous standby", "one machine only")
	setStandbyNames(t, primary, "ANY 1 (db2, db3)")
	primary.SQL(t, "candor", "REVOKE pg_read_all_stats FROM candor_owner")
	want("without the right to see standbys", "cannot be read")
	primary.SQL(t, "candor", "GRANT pg_read_all_stats TO candor_owner")
	standbys[1].Crash()
	awaitStandbys(t, primary, 1)
	want("one machine is lost", "") // the other two still have each line
	standbys[0].Crash()
	awaitStandbys(t, primary, 0)
	want("both standbys are lost", "0 synchronous standbys are connected")
	standbys[0].Run(t)
	standbys[1].Run(t)
}

func TestDurabilityNamesALazyServer(t *testing.T) {
	_, admin := sharedStore(t)
	d, err := admin.Durability(t.Context())
	if err != nil || d.Quorum || d.Synced || !strings.Contains(d.Reason, "fsync = off") || d.Change == "" {
		t.Errorf("%+v, %v", d, err)
	}
}
