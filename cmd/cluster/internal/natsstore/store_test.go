package natsstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/cluster/internal/natsstore"
	"github.com/candor-mcp/candor/cmd/cluster/internal/testing/natscluster"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/storetest"
)

var testChain = fleet.Chain{Node: "n", Name: "c"}

func TestAppendToStreamWithoutBatches(t *testing.T) {
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

// TestMessageIDOfAnotherNodeDoesNotBlock has another node use the message id before: the server then takes the line for a duplicate.
func TestMessageIDOfAnotherNodeDoesNotBlock(t *testing.T) {
	cluster := natscluster.Start(t, natscluster.Options{})
	store := open(t, cluster.URL()+"?node=n")
	setUp(t, store)
	lines := storetest.MakeLines(testChain, fleet.Head{}, 4, 100)
	connection := connect(t, cluster)
	for _, line := range lines {
		m := nats.NewMsg("candor.ledger.other.c")
		m.Header.Set("Nats-Msg-Id", fmt.Sprintf("n.%x", storetest.HeadOf(t, line).Hash))
		if _, err := connection.RequestMsg(m, 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Append(t.Context(), testChain, fleet.Head{}, lines[:1]); err != nil {
		t.Fatal(err)
	}
	if err := store.Append(t.Context(), testChain, storetest.HeadOf(t, lines[0]), lines[1:]); err != nil {
		t.Fatal(err)
	}
	wantLines(t, store, lines)
}

// TestLinesWithTheHeadersOfAStatus stores what a server sends to end a request.
func TestLinesWithTheHeadersOfAStatus(t *testing.T) {
	cluster := natscluster.Start(t, natscluster.Options{})
	store := open(t, cluster.URL()+"?node=n")
	setUp(t, store)
	connection := connect(t, cluster)
	for _, status := range []string{"404", "409", "100", "503"} {
		m := nats.NewMsg("candor.ledger.n.c")
		m.Header.Set("Status", status)
		if _, err := connection.RequestMsg(m, 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	for _, err := range store.Lines(t.Context(), testChain, 0) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != 4 {
		t.Errorf("%d lines, want 4", count)
	}
}

// TestHeadOfALeaderThatLostItsMajority cuts the leader off, stores a line through the others, and asks the old leader.
func TestHeadOfALeaderThatLostItsMajority(t *testing.T) {
	t.Parallel()
	cluster := natscluster.Start(t, natscluster.Options{Servers: 3, Namespaces: true})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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
	for { // short attempts: the old leader believes in itself only for some seconds after the election of another
		attempt, stop := context.WithTimeout(ctx, 200*time.Millisecond)
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

func TestStoreReturnsAfterTheServersDo(t *testing.T) {
	cluster := natscluster.Start(t, natscluster.Options{})
	server := cluster.Servers[0]
	setUp(t, open(t, cluster.URL()+"?node=operator"))
	server.Kill()
	store := open(t, cluster.URL()+"?node=n") // without a server
	lines := storetest.MakeLines(testChain, fleet.Head{}, 3, 100)
	wantClass(t, "Append without a server", store.Append(t.Context(), testChain, fleet.Head{}, lines), candor.ClassUnavailable)
	_, err := store.Head(t.Context(), testChain)
	wantClass(t, "Head without a server", err, candor.ClassUnavailable)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		head, err := store.Head(ctx, testChain)
		if err == nil {
			err = store.Append(ctx, testChain, head, lines[head.Seq:])
		}
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	wantLines(t, store, lines)
}

func TestErrorsSayWhatToDo(t *testing.T) {
	cluster := natscluster.Start(t, natscluster.Options{})
	store := open(t, cluster.URL()+"?node=n")
	_, err := store.Head(t.Context(), testChain)
	if err == nil || !strings.Contains(err.Error(), "candor fleet setup") {
		t.Errorf("Head without a stream: %v", err)
	}
	if err := store.Setup(t.Context(), fleet.SetupOptions{Replicas: 3}); err == nil {
		t.Error("Setup with three replicas on one server succeeded")
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
	public := filepath.Join(dir, "public.nk")
	if err := os.WriteFile(public, []byte("SUAM-not-a-seed"), 0o644); err != nil {
		t.Fatal(err)
	}
	private := filepath.Join(dir, "private.nk")
	if err := os.WriteFile(private, []byte("SUAM-not-a-seed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"nats://127.0.0.1:1?nkey=" + public:                        "chmod 600",
		"nats://127.0.0.1:1?creds=" + public:                       "chmod 600",
		"nats://127.0.0.1:1?nkey=" + private:                       "does not hold the seed",
		"nats://127.0.0.1:1?nkey=" + dir:                           "not a file",
		"nats://127.0.0.1:1?nkey=" + filepath.Join(dir, "none"):    "no such file",
		"nats://127.0.0.1:1?ca=" + filepath.Join(dir, "none"):      "no such file",
		"nats://127.0.0.1:1?cert=" + private:                       "only one of",
		"nats://127.0.0.1:1?cert=" + private + "&key=" + public:    "chmod 600",
		"nats://127.0.0.1:1?creds=" + private + "&nkey=" + private: "keep one",
		"nats://127.0.0.1:1?creed=x":                               "unknown parameter",
		"nats://127.0.0.1:1/a.b":                                   "not the name of a stream",
		"nats://127.0.0.1:1?monitor=ftp://x":                       "monitor=",
		"nats://user@127.0.0.1:1":                                  "creds=",
		"nats:":                                                    "names no server",
		"nats-embedded:":                                           "names no folder",
		"nats-embedded:" + dir + "?listen=0.0.0.0:4222":            "without credentials",
		"nats-embedded:" + dir + "?listen=here":                    "not an address",
		"nats-embedded:" + dir + "?config=" + private:              "config=",
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

// TestEmbeddedServerOpensToOthers lets a second process use the server of the first.
func TestEmbeddedServerOpensToOthers(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "nats.conf")
	if err := os.WriteFile(config, []byte("server_name: first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	store := open(t, "nats-embedded:"+filepath.Join(dir, "store")+"?node=n&listen="+address+"&config="+config)
	setUp(t, store)
	lines := storetest.MakeLines(testChain, fleet.Head{}, 5, 100)
	if err := store.Append(t.Context(), testChain, fleet.Head{}, lines); err != nil {
		t.Fatal(err)
	}
	wantLines(t, open(t, "nats://"+address+"?node=m"), lines)
}

func TestEmbeddedServerOnATakenPort(t *testing.T) {
	cluster := natscluster.Start(t, natscluster.Options{})
	_, err := openURL(t, "nats-embedded:"+t.TempDir()+"?node=n&listen="+cluster.Servers[0].ClientAddress())
	wantClass(t, "a taken port", err, candor.ClassUnavailable)
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("the reason is missing: %v", err)
	}
}

// TestSingleMessagesUntilTheStreamIsFull has some lines stored and others not: the caller reads the head and continues there.
func TestSingleMessagesUntilTheStreamIsFull(t *testing.T) {
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

const holdVariable = "NATSSTORE_TEST_HOLD"

// TestEmbeddedFolderOfAnotherProcess runs itself as a second process on the same folder.
func TestEmbeddedFolderOfAnotherProcess(t *testing.T) {
	if dir := os.Getenv(holdVariable); dir != "" {
		_, err := openURL(t, "nats-embedded:"+dir+"?node=n")
		fmt.Printf("second process: %v\n", err)
		return
	}
	dir := t.TempDir()
	store := open(t, "nats-embedded:"+dir+"?node=n")
	second := func() string {
		t.Helper()
		command := exec.Command(os.Args[0], "-test.run=^TestEmbeddedFolderOfAnotherProcess$", "-test.v")
		command.Env = append(os.Environ(), holdVariable+"="+dir)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := second(); !strings.Contains(out, "another process has a NATS server") || !strings.Contains(out, "listen=127.0.0.1:4222") {
		t.Errorf("the second process says: %s", out)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if out := second(); !strings.Contains(out, "second process: <nil>") {
		t.Errorf("after the first has ended the second process says: %s", out)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	cluster := natscluster.Start(t, natscluster.Options{})
	cluster.Servers[0].Kill()
	return cluster.Servers[0].ClientAddress()
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

func TestEmbeddedServerNeedsNoSetup(t *testing.T) {
	store := open(t, "nats-embedded:"+t.TempDir()+"?node=web-1")
	if err := store.Append(t.Context(), testChain, fleet.Head{}, storetest.MakeLines(testChain, fleet.Head{}, 2, 100)); err != nil {
		t.Fatalf("the first append of a new folder: %v", err)
	}
}

func TestUnreachableServerIsNamedAsSuch(t *testing.T) {
	store := open(t, "nats://127.0.0.1:1?node=web-1")
	_, err := store.Chains(t.Context())
	if err == nil || !strings.Contains(fleet.Reason(err), "no server can be reached") {
		t.Errorf("got %v", err)
	}
}
