package natsstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/natsstore"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
	"github.com/candor-mcp/candor/cmd/internal/testing/natscluster"
)

var testChain = fleet.Chain{Node: "n", Name: "c"}

func TestAppendToStreamWithoutBatches(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{})
	connection := connect(t, cluster)
	js, err := jetstream.New(connection)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: natsstore.DefaultStream, Subjects: []string{"candor.ledger.*.*"}}); err != nil {
		t.Fatal(err)
	}
	store := open(t, cluster.URL()+"?node=n")
	lines := storetest.MakeLines(testChain, fleet.Head{}, 50, 100)
	if err := store.Append(t.Context(), testChain, fleet.Head{}, lines); err != nil {
		t.Fatal(err)
	}
	wantLines(t, store, lines)
	// Setup turns batches on, and a second set of lines uses them.
	setUp(t, store)
	more := storetest.MakeLines(testChain, storetest.HeadOf(t, lines[49]), 50, 100)
	if err := store.Append(t.Context(), testChain, storetest.HeadOf(t, lines[49]), more); err != nil {
		t.Fatal(err)
	}
	wantLines(t, store, append(lines, more...))
	stream, err := js.Stream(t.Context(), natsstore.DefaultStream)
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	if !config.AllowAtomicPublish || !config.DenyDelete || config.Discard != jetstream.DiscardNew {
		t.Errorf("Setup did not correct the stream: %+v", config)
	}
}

// TestRefusalOfAnOldLeader answers messages before the server does, as a leader that was stopped for a while.
func TestRefusalOfAnOldLeader(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{})
	store := open(t, cluster.URL()+"?node=n")
	setUp(t, store)
	connection := connect(t, cluster)
	refusal := []byte(`{"error": {"code": 400, "err_code": 10071, "description": "wrong last sequence: 7"}}`)
	if _, err := connection.Subscribe("candor.ledger.n.c", func(m *nats.Msg) {
		if m.Reply != "" {
			_ = m.Respond(refusal)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := connection.Flush(); err != nil {
		t.Fatal(err)
	}
	head := fleet.Head{}
	for _, count := range []int{1, 3} {
		lines := storetest.MakeLines(testChain, head, count, 100)
		if err := store.Append(t.Context(), testChain, head, lines); err != nil {
			t.Fatalf("%d lines that were stored: %v", count, err)
		}
		other := storetest.MakeLines(testChain, head, 1, 50)
		var conflict *fleet.ConflictError
		if err := store.Append(t.Context(), testChain, head, other); !errors.As(err, &conflict) {
			t.Errorf("another line after the same head: %v, want a conflict", err)
		}
		head = storetest.HeadOf(t, lines[count-1])
	}
}

// TestOldLeaderHidesTheLine has an old leader refuse a line, and then answer first that there is no line after the expected head.
func TestOldLeaderHidesTheLine(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{})
	store := open(t, cluster.URL()+"?node=n")
	setUp(t, store)
	connection := connect(t, cluster)
	answer := func(subject string, reply func(m *nats.Msg) []byte) {
		if _, err := connection.Subscribe(subject, func(m *nats.Msg) {
			if m.Reply != "" {
				_ = m.Respond(reply(m))
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	answer("candor.ledger.n.c", func(*nats.Msg) []byte {
		return []byte(`{"error": {"code": 400, "err_code": 10071, "description": "wrong last sequence: 7"}}`)
	})
	var hidden atomic.Int64 // how often the line is still hidden
	hidden.Store(2)
	answer("candor.api.>", func(m *nats.Msg) []byte {
		if hidden.Load() > 0 && strings.Contains(string(m.Data), "next_by_subj") {
			hidden.Add(-1)
			return []byte(`{"error": {"code": 404, "err_code": 10037, "description": "no message found"}}`)
		}
		passed, err := connection.Request("$JS.API."+strings.TrimPrefix(m.Subject, "candor.api."), m.Data, time.Minute)
		if err != nil {
			t.Error(err)
			return nil
		}
		return passed.Data
	})
	if err := connection.Flush(); err != nil {
		t.Fatal(err)
	}
	natsstore.Import(store)
	head := fleet.Head{}
	for range 500 { // the answer of the server itself may come first
		lines := storetest.MakeLines(testChain, head, 1, 100)
		if err := store.Append(t.Context(), testChain, head, lines); err != nil {
			t.Fatalf("a line that was stored: %v", err)
		}
		if hidden.Load() == 0 {
			return
		}
		head = storetest.HeadOf(t, lines[0])
	}
	t.Error("the answer of the old leader never came first")
}

// TestHeadOfALeaderThatLostItsMajority cuts the leader off, stores a line through the others, and asks the old leader.
func TestHeadOfALeaderThatLostItsMajority(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{Servers: 3, Namespaces: true})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	store := open(t, cluster.URL()+"?node=n")
	setUp(t, store)
	lines := storetest.MakeLines(testChain, fleet.Head{}, 2, 100)
	if err := store.Append(ctx, testChain, fleet.Head{}, lines[:1]); err != nil {
		t.Fatal(err)
	}
	leader, err := cluster.StreamLeader(ctx, natsstore.DefaultStream)
	if err != nil {
		t.Fatal(err)
	}
	old := open(t, "nats://"+leader.ClientAddress()+"?node=n")
	var others []string
	for _, other := range cluster.Servers {
		if other == leader {
			continue
		}
		others = append(others, other.ClientAddress())
		for _, pair := range [][2]*natscluster.Server{{leader, other}, {other, leader}} {
			if _, err := cluster.Block(pair[0], pair[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	majority := open(t, "nats://"+strings.Join(others, ",")+"?node=n")
	for limit := 200 * time.Millisecond; ; limit += limit / 4 { // first short attempts: the old leader believes in itself only for some seconds after the election of another
		attempt, stop := context.WithTimeout(ctx, limit)
		err := majority.Append(attempt, testChain, storetest.HeadOf(t, lines[0]), lines[1:])
		stop()
		var conflict *fleet.ConflictError
		if err == nil || errors.As(err, &conflict) {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	head, err := old.Head(ctx, testChain)
	if err == nil {
		t.Errorf("the old leader answered with entry %d", head.Seq)
	}
	if head, err := majority.Head(ctx, testChain); err != nil || head.Seq != 2 {
		t.Errorf("the majority answers with entry %d, %v", head.Seq, err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{})
	store := open(t, cluster.URL()+"?node=n")
	_, err := store.Head(t.Context(), testChain)
	if err == nil || !strings.Contains(err.Error(), "candor fleet setup") {
		t.Errorf("Head without a stream: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := store.Setup(ctx, fleet.SetupOptions{Replicas: 3}); err == nil || ctx.Err() != nil {
		t.Errorf("Setup with three replicas on one server: %v, %v; want an error at once", err, ctx.Err())
	}
	if err := store.Setup(t.Context(), fleet.SetupOptions{MaxBytes: 20 << 10}); err != nil {
		t.Fatal(err)
	}
	lines := storetest.MakeLines(testChain, fleet.Head{}, 100, 1000)
	if err := store.Append(t.Context(), testChain, fleet.Head{}, lines); err == nil || !strings.Contains(err.Error(), "refuses more") {
		t.Errorf("Append to a full stream: %v", err)
	}
	if err := store.Setup(t.Context(), fleet.SetupOptions{MaxBytes: 10 << 20}); err != nil {
		t.Fatal(err)
	}
	large := storetest.NextLine(testChain, fleet.Head{}, []byte(strings.Repeat("x", 1500<<10)))
	wantClass(t, "Append of a line above max_payload", store.Append(t.Context(), testChain, fleet.Head{}, [][]byte{large}), candor.ClassTooLarge)
	if err := store.Append(t.Context(), testChain, fleet.Head{}, lines); err != nil {
		t.Errorf("Append after the limit was raised: %v", err)
	}
}

func TestTLSAndCredentials(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{TLS: true, Auth: true})
	files := "&ca=" + cluster.CA + "&cert=" + cluster.ClientCert + "&key=" + cluster.ClientKey
	store := open(t, cluster.URL()+"?node=n&nkey="+cluster.OperatorSeed+files)
	setUp(t, store)
	lines := storetest.MakeLines(testChain, fleet.Head{}, 3, 100)
	if err := store.Append(t.Context(), testChain, fleet.Head{}, lines); err != nil {
		t.Fatal(err)
	}
	_, unknown := natscluster.NewUser(t)
	for name, parameters := range map[string]string{"no credentials": "", "unknown user": "&nkey=" + unknown} {
		_, err := openURL(t, cluster.URL()+"?node=n"+parameters+files)
		wantClass(t, name, err, candor.ClassDenied)
	}
}

func TestURLsAndFilesAreChecked(t *testing.T) {
	dir := t.TempDir()
	private := filepath.Join(dir, "private.nk")
	if err := os.WriteFile(private, []byte("SUAM-not-a-seed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"nats://127.0.0.1:1?nkey=" + private:                       "does not hold the seed",
		"nats://127.0.0.1:1?nkey=" + dir:                           "not a file",
		"nats://127.0.0.1:1?nkey=" + filepath.Join(dir, "none"):    "no such file",
		"nats://127.0.0.1:1?ca=" + filepath.Join(dir, "none"):      "no such file",
		"nats://127.0.0.1:1?cert=" + private:                       "only one of",
		"nats://127.0.0.1:1?creds=" + private + "&nkey=" + private: "keep one",
		"nats://127.0.0.1:1?creed=x":                               "unknown parameter",
		"nats://127.0.0.1:1/a.b":                                   "not the name of a stream",
		"nats://127.0.0.1:1?monitor=ftp://x":                       "monitor=",
		"nats://user@127.0.0.1:1":                                  "creds=",
		"nats:":                                                    "names no server",
	} {
		separator := "?"
		if strings.Contains(text, "?") {
			separator = "&"
		}
		_, err := openURL(t, text+separator+"node=n")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "not-a-seed") {
			t.Errorf("%s: the error has the content of the file: %v", text, err)
		}
	}
}

// TestSingleMessagesUntilTheStreamIsFull has some lines stored and others not: the caller reads the head and continues there.
func TestSingleMessagesUntilTheStreamIsFull(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{})
	js, err := jetstream.New(connect(t, cluster))
	if err != nil {
		t.Fatal(err)
	}
	config := jetstream.StreamConfig{Name: natsstore.DefaultStream, Subjects: []string{"candor.ledger.*.*"}, MaxBytes: 20 << 10, Discard: jetstream.DiscardNew}
	if _, err := js.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	store := open(t, cluster.URL()+"?node=n")
	lines := storetest.MakeLines(testChain, fleet.Head{}, 100, 1000)
	if err := store.Append(t.Context(), testChain, fleet.Head{}, lines); err == nil || !strings.Contains(err.Error(), "of 100 lines were stored") {
		t.Errorf("Append: %v", err)
	}
	head, err := store.Head(t.Context(), testChain)
	if err != nil || head.Seq == 0 || head.Seq == 100 {
		t.Fatalf("Head: %d, %v", head.Seq, err)
	}
	wantLines(t, store, lines[:head.Seq])
}

func openURL(t *testing.T, url string) (fleet.Store, error) {
	t.Helper()
	at, err := fleet.ParseLocation(url)
	if err != nil {
		return nil, err
	}
	store, err := natsstore.Engine{}.Open(t.Context(), at, fleet.OpenOptions{})
	if err == nil {
		t.Cleanup(func() { _ = store.Close() })
	}
	return store, err
}

func wantLines(t *testing.T, store fleet.Store, want [][]byte) {
	t.Helper()
	count := 0
	for stored, err := range store.Lines(t.Context(), testChain, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if count >= len(want) || string(stored.Line) != string(want[count]) {
			t.Fatalf("line %d differs", count+1)
		}
		count++
	}
	if count != len(want) {
		t.Errorf("%d lines, want %d", count, len(want))
	}
}

func wantClass(t *testing.T, what string, err error, class candor.Class) {
	t.Helper()
	var coded *candor.Error
	if !errors.As(err, &coded) || coded.Class() != class {
		t.Errorf("%s: %v, want an error of class %s", what, err, class)
	}
}

func TestUnreachableServerIsNamedAsSuch(t *testing.T) {
	t.Parallel()
	store := open(t, "nats://127.0.0.1:1?node=web-1")
	_, err := store.Chains(t.Context())
	if err == nil || !strings.Contains(fleet.Reason(err), "no server can be reached") {
		t.Errorf("got %v", err)
	}
}
