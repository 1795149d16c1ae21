package natsstore_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/testing/natscluster"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

func TestQuorumOfThreeServersThatSync(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{Servers: 3})
	setUp(t, open(t, cluster.URL()+"?node=operator"))
	store := open(t, cluster.URL()+"?node=n&monitor="+cluster.MonitorURLs())
	if d := waitForReplicas(t, store); !d.Quorum || !d.Synced || d.Replicas != 2 || d.Reason != "" {
		t.Errorf("%+v", d)
	}
	wantNoQuorum(t, open(t, cluster.URL()+"?node=n"), "not verified", "monitor=")

	one, _, _ := strings.Cut(cluster.MonitorURLs(), ",")
	wantNoQuorum(t, open(t, cluster.URL()+"?node=n&monitor="+one), "not verified that server", "monitor=")

	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	defer silent.Close()
	wantNoQuorum(t, open(t, cluster.URL()+"?node=n&monitor="+silent.URL), "not verified that server", "monitor=")

	down := cluster.Servers[0]
	down.Kill()
	if d := wantNoQuorum(t, store, "", ""); !d.Unverified {
		t.Errorf("a server is down: %+v, want that nothing is found wrong", d)
	}

	makeLazy(t, down)
	if d := waitForReplicas(t, store); d.Unverified || !strings.Contains(d.Reason, "server "+down.Name+" syncs its disk only from time to time") {
		t.Errorf("a server was restarted without sync: %+v", d)
	}
}

// makeLazy starts a server with a configuration that does not sync.
func makeLazy(t *testing.T, server *natscluster.Server) {
	t.Helper()
	file := filepath.Join(server.Dir, "nats.conf")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "sync_interval: always", "sync_interval: 2m", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil || changed == string(text) {
		t.Fatal(err, "or the setting was not found")
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
}

func TestNoQuorumOfOneReplica(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{})
	store := open(t, cluster.URL()+"?node=n&monitor="+cluster.MonitorURLs())
	setUp(t, store)
	wantNoQuorum(t, store, "on 1 of at least 3 machines", "--replicas 3")
}

// waitForReplicas waits until all servers answer and their replicas have caught up.
func waitForReplicas(t *testing.T, store fleet.Store) fleet.Durability {
	t.Helper()
	var d fleet.Durability
	wait.For(t, "all servers and replicas", func() (err error) {
		if d, err = store.Durability(t.Context()); err == nil && d.Unverified {
			err = errors.New("not verified")
		}
		return err
	})
	return d
}

// wantNoQuorum waits for an answer: a cluster that lost a server has no leader for a moment.
func wantNoQuorum(t *testing.T, store fleet.Store, reason, change string) fleet.Durability {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var d fleet.Durability
	for {
		var err error
		if d, err = store.Durability(ctx); err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	if d.Quorum || d.Reason == "" || d.Change == "" || !strings.Contains(d.Reason, reason) || !strings.Contains(d.Change, change) {
		t.Errorf("%+v, want no quorum, a reason with %q and a change with %q", d, reason, change)
	}
	return d
}
