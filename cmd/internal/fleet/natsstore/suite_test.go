package natsstore_test

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/natsstore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/cmd/internal/testing/natscluster"
	"github.com/candor-mcp/candor/internal/testing/testbinary"
)

var allServers = flag.Bool("all", false, "run the suite on three servers too, which takes a minute")

func TestMain(m *testing.M) {
	flag.Parse()
	testbinary.Parallel(4) // the tests mostly wait for elections
	os.Exit(m.Run())
}

func TestSuiteOneServer(t *testing.T) {
	t.Parallel()
	runSuite(t, natscluster.Start(t, natscluster.Options{}))
}

func TestSuiteThreeServers(t *testing.T) {
	if !*allServers {
		t.Skip("only with the flag -all")
	}
	runSuite(t, natscluster.Start(t, natscluster.Options{Servers: 3}))
}

// runSuite uses one cluster for all tests: each begins with a new stream.
func runSuite(t *testing.T, cluster *natscluster.Cluster) {
	t.Helper()
	storetest.Run(t, func(t *testing.T) storetest.Opened {
		t.Helper()
		removeStream(t, cluster)
		first := open(t, cluster.URL()+"?node=operator")
		setUp(t, first)
		again := func(t *testing.T) fleet.Store { t.Helper(); return open(t, cluster.URL()+"?node=operator") }
		return storetest.Opened{
			Store: first, Again: again,
			Reopen: func(t *testing.T) fleet.Store {
				t.Helper()
				for _, server := range cluster.Servers {
					server.Kill()
				}
				for _, server := range cluster.Servers {
					if err := server.Start(); err != nil {
						t.Fatal(err)
					}
				}
				if err := cluster.WaitReady(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := cluster.StreamLeader(t.Context(), natsstore.DefaultStream); err != nil {
					t.Fatal(err)
				}
				return again(t)
			},
			Raw: func(t *testing.T, chain fleet.Chain, line []byte) {
				t.Helper()
				publishRaw(t, cluster, "candor.ledger."+chain.Node+"."+chain.Name, line)
			},
		}
	})
}

func open(t testing.TB, url string) fleet.Store {
	t.Helper()
	at, err := fleet.ParseLocation(url)
	if err != nil {
		t.Fatal(err)
	}
	store, err := natsstore.Engine{}.Open(t.Context(), at, fleet.OpenOptions{})
	if err != nil {
		t.Fatalf("opening %s: %v", at, err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func setUp(t testing.TB, store fleet.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := store.Setup(ctx, fleet.SetupOptions{}); err != nil {
		t.Fatalf("Setup: %v", err)
	}
}

func connect(t testing.TB, cluster *natscluster.Cluster) *nats.Conn {
	t.Helper()
	user, err := nats.NkeyOptionFromSeed(cluster.OperatorSeed)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := nats.Connect(cluster.URL(), user)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Close)
	return connection
}

func removeStream(t testing.TB, cluster *natscluster.Cluster) {
	t.Helper()
	if _, err := connect(t, cluster).Request("$JS.API.STREAM.DELETE."+natsstore.DefaultStream, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
}

// publishRaw stores a message as any client with the right to publish can.
func publishRaw(t testing.TB, cluster *natscluster.Cluster, subject string, line []byte) {
	t.Helper()
	if _, err := connect(t, cluster).Request(subject, line, time.Minute); err != nil {
		t.Fatal(err)
	}
}
