package natscluster_test

import (
	"context"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	_ "github.com/anishathalye/porcupine" // checks histories for linearizability
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor/cmd/cluster/internal/testing/natscluster"
)

func TestClusterSurvivesTheLossOfItsLeader(t *testing.T) {
	cluster := natscluster.Start(t, natscluster.Options{Servers: 3})
	js := connect(t, cluster)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	publish(ctx, t, js)
	leader, err := cluster.StreamLeader(ctx, "S")
	if err != nil {
		t.Fatal(err)
	}
	leader.Kill()
	publish(ctx, t, js)
	if err := leader.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := cluster.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	info, err := js.Stream(ctx, "S")
	if err != nil {
		t.Fatal(err)
	}
	if got := info.CachedInfo().State.Msgs; got != 2 {
		t.Errorf("the stream has %d messages, want 2", got)
	}
}

func TestPausedServerAnswersAfterItContinues(t *testing.T) {
	cluster := natscluster.Start(t, natscluster.Options{})
	server := cluster.Servers[0]
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	limit := time.Now().Add(30 * time.Second)
	for ready := true; ready; { // a stopped process may still answer for a moment
		short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		ready = cluster.WaitReady(short) == nil
		cancel()
		if time.Now().After(limit) {
			t.Fatal("a paused server is ready")
		}
	}
	if err := server.Continue(); err != nil {
		t.Fatal(err)
	}
	if err := cluster.WaitReady(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestServersEndWithTheTest(t *testing.T) {
	var pid int
	var address, dir string
	t.Run("inner", func(t *testing.T) {
		cluster := natscluster.Start(t, natscluster.Options{})
		pid, address, dir = cluster.Servers[0].PID(), cluster.Servers[0].ClientAddress(), cluster.Servers[0].Dir
	})
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil {
		t.Errorf("process %d still runs", pid)
	}
	if connection, err := net.Dial("tcp", address); err == nil {
		_ = connection.Close()
		t.Errorf("%s still listens", address)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s still exists", dir)
	}
}

func TestCredentialsAndTLSAreRequired(t *testing.T) {
	key, seed := natscluster.NewUser(t)
	cluster := natscluster.Start(t, natscluster.Options{TLS: true, Auth: true})
	withTLS := []nats.Option{nats.RootCAs(cluster.CA), nats.ClientCert(cluster.ClientCert, cluster.ClientKey)}
	if connection, err := nats.Connect(cluster.URL(), withTLS...); err == nil {
		connection.Close()
		t.Error("connected without credentials")
	}
	user, err := nats.NkeyOptionFromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	if connection, err := nats.Connect(cluster.URL(), append(withTLS, user)...); err == nil {
		connection.Close()
		t.Error("connected as an unknown user")
	}
	if err := cluster.SetUsers([]string{"{ nkey: " + key + " }"}); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		connection, err := nats.Connect(cluster.URL(), append(withTLS, user)...)
		if err == nil {
			connection.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the user was added, and gets: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestBlockedServersSeeEachOtherAgain(t *testing.T) {
	cluster := natscluster.Start(t, natscluster.Options{Servers: 3, Namespaces: true})
	js := connect(t, cluster)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	leader, err := cluster.StreamLeader(ctx, "S")
	if err != nil {
		t.Fatal(err)
	}
	var restores []func() error
	for _, other := range cluster.Servers {
		if other == leader {
			continue
		}
		for _, pair := range [][2]*natscluster.Server{{leader, other}, {other, leader}} {
			restore, err := cluster.Block(pair[0], pair[1])
			if err != nil {
				t.Fatal(err)
			}
			restores = append(restores, restore)
		}
	}
	alone, err := nats.Connect("nats://" + leader.ClientAddress())
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if _, err := alone.Request("s", nil, time.Second); err == nil {
		t.Error("a leader without a majority acknowledged a message")
	}
	for _, restore := range restores {
		if err := restore(); err != nil {
			t.Fatal(err)
		}
	}
	publish(ctx, t, js)
}

func connect(t *testing.T, cluster *natscluster.Cluster) jetstream.JetStream {
	t.Helper()
	connection, err := nats.Connect(cluster.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Close)
	js, err := jetstream.New(connection)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// publish publishes one message, and tries again until a leader accepts it. The id makes repeated attempts count once.
func publish(ctx context.Context, t *testing.T, js jetstream.JetStream) {
	t.Helper()
	id := strconv.FormatInt(time.Now().UnixNano(), 16)
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := js.Publish(attempt, "s", []byte("x"), jetstream.WithMsgID(id))
		cancel()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}
