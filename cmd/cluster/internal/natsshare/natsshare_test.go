package natsshare_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor/cmd/cluster/internal/natsshare"
	"github.com/candor-mcp/candor/cmd/cluster/internal/testing/natscluster"
	"github.com/candor-mcp/candor/cmd/internal/gateway/share"
)

// member is a bus that remembers what it receives.
type member struct {
	share.Bus
	connected chan struct{}

	mu  sync.Mutex
	got []share.Value // guarded by mu
}

func join(t *testing.T, address string) *member {
	t.Helper()
	bus, err := natsshare.Open(address, share.OpenOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	m := &member{Bus: bus, connected: make(chan struct{}, 100)}
	t.Cleanup(func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	})
	bus.Listen(func(v share.Value) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.got = append(m.got, v)
	}, func() { m.connected <- struct{}{} })
	return m
}

// awaitConnected waits for the next connection.
func (m *member) awaitConnected(t *testing.T) {
	t.Helper()
	select {
	case <-m.connected:
	case <-time.After(30 * time.Second):
		t.Fatal("not connected")
	}
}

// await waits until a value with that key was received.
func (m *member) await(t *testing.T, key string) share.Value {
	t.Helper()
	var found share.Value
	eventually(t, "the value of "+key, func() bool {
		for _, v := range m.values() {
			if v.Key == key {
				found = v
				return true
			}
		}
		return false
	})
	return found
}

func (m *member) values() []share.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]share.Value(nil), m.got...)
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// connect returns a plain connection with all rights.
func connect(t *testing.T, address string, options ...nats.Option) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// setUp creates the bucket.
func setUp(t *testing.T, conn *nats.Conn) jetstream.KeyValue {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it exists
		if err := natsshare.Setup(t.Context(), js, natsshare.DefaultBucket, 1); err != nil {
			t.Fatal(err)
		}
	}
	kv, err := js.KeyValue(t.Context(), natsshare.DefaultBucket)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

func TestNodesHearEachOtherAndLaterOnesReadTheBucket(t *testing.T) {
	c := natscluster.Start(t, natscluster.Options{})
	setUp(t, connect(t, c.URL()))
	a, b := join(t, c.URL()+"?node=a"), join(t, c.URL()+"?node=b")
	a.awaitConnected(t)
	b.awaitConnected(t)
	eventually(t, "the subscription of b", func() bool {
		a.Publish("catalogue", []byte(`{"version":"v1"}`))
		return len(b.values()) > 0
	})
	if v := b.await(t, "catalogue"); v.Node != "a" || string(v.Data) != `{"version":"v1"}` {
		t.Errorf("got %+v", v)
	}
	late := join(t, c.URL()+"?node=late")
	eventually(t, "the value of the bucket", func() bool { // besides one that was on its way when it joined
		return slices.ContainsFunc(late.values(), func(v share.Value) bool { return v.Node == "a" && v.Key == "catalogue" && v.Age > 0 })
	})
	if got := a.values(); len(got) != 0 {
		t.Errorf("a hears itself: %+v", got)
	}
}

func TestPublishNeverWaitsForAStalledServer(t *testing.T) {
	c := natscluster.Start(t, natscluster.Options{})
	setUp(t, connect(t, c.URL()))
	a := join(t, c.URL()+"?node=a")
	a.awaitConnected(t)
	if err := c.Servers[0].Pause(); err != nil {
		t.Fatal(err)
	}
	value := []byte(strings.Repeat("x", share.MaxValue))
	for i := range 20_000 { // 80 MB, more than fits into the buffers of any socket
		a.Publish(fmt.Sprintf("repeat.%d", i), value)
	}
	if s := a.Status(); s.Dropped < 10_000 {
		t.Errorf("status %+v, want most values dropped", s)
	}
	if err := c.Servers[0].Continue(); err != nil {
		t.Fatal(err)
	}
	b := join(t, c.URL()+"?node=b")
	b.awaitConnected(t)
	eventually(t, "a value after the stall", func() bool {
		a.Publish("catalogue", []byte(`{}`))
		for _, v := range b.values() {
			if v.Key == "catalogue" {
				return true
			}
		}
		return false
	})
}

func TestNodeStartsWithoutAServerAndConnectsLater(t *testing.T) {
	c := natscluster.Start(t, natscluster.Options{})
	c.Servers[0].Kill()
	a := join(t, c.URL()+"?node=a")
	a.Publish("catalogue", []byte(`{}`))
	if s := a.Status(); s.Connected {
		t.Errorf("status %+v", s)
	}
	if err := c.Servers[0].Start(); err != nil {
		t.Fatal(err)
	}
	a.awaitConnected(t)
	c.Servers[0].Kill()
	eventually(t, "the end of the connection", func() bool { s := a.Status(); return !s.Connected && s.Problem != "" })
	if err := c.Servers[0].Start(); err != nil {
		t.Fatal(err)
	}
	a.awaitConnected(t)
}

// Headers of a publisher are stored with the message, and the server adds its own after them.
func TestForgedHeadersDoNotChangeTheSender(t *testing.T) {
	c := natscluster.Start(t, natscluster.Options{})
	conn := connect(t, c.URL())
	setUp(t, conn)
	live := join(t, c.URL()+"?node=live")
	live.awaitConnected(t)
	forged := nats.NewMsg("$KV.CANDOR_SHARED.liar.breaker.1")
	forged.Header.Set("Nats-Subject", "$KV.CANDOR_SHARED.victim.breaker.1")
	forged.Header.Set("Nats-Time-Stamp", "2999-01-01T00:00:00Z")
	forged.Data = []byte(`{"open":true}`)
	if _, err := conn.RequestMsg(forged, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Request("$KV.CANDOR_SHARED.honest.breaker.2", []byte(`{}`), 5*time.Second); err != nil {
		t.Fatal(err)
	}
	late := join(t, c.URL()+"?node=late")
	for name, m := range map[string]*member{"live": live, "late": late} {
		m.await(t, "breaker.2")
		for _, v := range m.values() {
			if v.Node == "victim" || name == "late" && v.Key != "breaker.2" {
				t.Errorf("%s: a message with forged headers was passed on: %+v", name, v)
			}
		}
	}
}

func TestAddressIsCheckedAtStart(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open.nk")
	if err := os.WriteFile(open, []byte("SUAsecret"), 0o644); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(t.TempDir(), "closed.nk")
	if err := os.WriteFile(closed, []byte("SUAsecret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"nats://user:hunter2@h?node=n":         "password",
		"nats:///x?node=n":                     "no host",
		"nats://h/a.b?node=n":                  "bucket",
		"nats://h?node=n&cred=x":               `"cred" is not a parameter`,
		"nats://h?node=n&creds=/no/such/file":  "no such file",
		"nats://h?node=n&ca=/no/such/file":     "no such file",
		"nats://h?node=n&nkey=" + open:         "other users can read",
		"nats://h?node=n&nkey=" + closed:       "no seed",
		"nats://h?node=n&cert=" + closed + "x": "no such file",
	} {
		_, err := natsshare.Open(address, share.OpenOptions{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "SUAsecret") {
			t.Errorf("Open(%q) = %v, want %q and no secret", address, err, want)
		}
	}
}

// startGranted starts a server with an account for the bucket and one for each node, and creates the bucket.
func startGranted(t *testing.T) (c *natscluster.Cluster, kv jetstream.KeyValue, seeds map[string]string) {
	t.Helper()
	seeds = map[string]string{}
	nodes := ""
	for _, node := range []string{"web-1", "web-2"} {
		var key string
		key, seeds[node] = natscluster.NewUser(t)
		nodes += fmt.Sprintf("%q { users: [ { nkey: %s } ], imports: [ %s ] }\n", node, key, strings.Join(natsshare.Imports("LEDGER", natsshare.DefaultBucket, node), "\n"))
	}
	c = natscluster.Start(t, natscluster.Options{Accounts: func(operator string) string {
		return fmt.Sprintf("LEDGER { jetstream: enabled, users: [ { nkey: %s } ], exports: [ %s ] }\n%s",
			operator, strings.Join(natsshare.Exports(natsshare.DefaultBucket), "\n"), nodes)
	}})
	return c, setUp(t, connect(t, c.URL(), nkey(t, c.OperatorSeed))), seeds
}

func put(t *testing.T, kv jetstream.KeyValue, key string) {
	t.Helper()
	if _, err := kv.Put(t.Context(), key, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
}

func TestGrantLetsNodesShare(t *testing.T) {
	c, kv, seeds := startGranted(t)
	put(t, kv, "web-3.catalogue")
	one, two := join(t, c.URL()+"?node=web-1&nkey="+seeds["web-1"]), join(t, c.URL()+"?node=web-2&nkey="+seeds["web-2"])
	one.await(t, "catalogue") // from the bucket
	two.await(t, "catalogue")
	eventually(t, "a live value", func() bool {
		one.Publish("breaker.1", []byte(`{}`))
		for _, v := range two.values() {
			if v.Node == "web-1" && v.Key == "breaker.1" && v.Age == 0 {
				return true
			}
		}
		return false
	})
	eventually(t, "the value in the bucket", func() bool { _, err := kv.Get(t.Context(), "web-1.breaker.1"); return err == nil })
	for _, v := range one.values() {
		if v.Node == "web-1" {
			t.Errorf("a node hears itself: %+v", v)
		}
	}
	if s := one.Status(); !s.Connected || s.Problem != "" {
		t.Errorf("status %+v", s)
	}
}

// A node with its own credentials can neither speak for another node nor change the bucket, also not through answers of the server that it
// has delivered to the subject of another node.
func TestHostileNodeCannotSpeakForAnother(t *testing.T) {
	c, kv, seeds := startGranted(t)
	put(t, kv, "web-2.catalogue")
	third := connect(t, c.URL(), nkey(t, c.OperatorSeed))
	heard, err := third.SubscribeSync("candor.shared.CANDOR_SHARED.web-2.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Flush(); err != nil {
		t.Fatal(err)
	}
	hostile := connect(t, c.URL(), nkey(t, seeds["web-1"]), nats.SkipSubjectValidation())
	victim := "$KV.CANDOR_SHARED.web-2.catalogue"
	const bucket = "KV_CANDOR_SHARED"
	for _, attack := range [][3]string{
		{victim, "", "forged"}, {"$KV.CANDOR_SHARED.web-2.new", "", "forged"}, {"$KV.CANDOR_SHARED.*.catalogue", "", "forged"}, {"$KV.CANDOR_SHARED.>", "", "forged"},
		{"candor.shared.CANDOR_SHARED.web-2.catalogue", "", "forged"}, {"$KV.CANDOR_SHARED.web-1.catalogue", "candor.shared.CANDOR_SHARED.web-2.catalogue", "forged"},
		{"$KV.CANDOR_SHARED.web-1.catalogue", victim, "forged"}, // the confirmation would be stored
		{"candor.api.DIRECT.GET." + bucket, victim, `{"last_by_subj":"$KV.CANDOR_SHARED.web-1.catalogue"}`},
		{"$JS.API.DIRECT.GET." + bucket, victim, `{"last_by_subj":"$KV.CANDOR_SHARED.web-1.catalogue"}`},
		{"$JS.API.STREAM.DELETE." + bucket, "_INBOX.x", ""}, {"$JS.API.STREAM.PURGE." + bucket, "_INBOX.x", ""}, {"candor.api.STREAM.PURGE." + bucket, "_INBOX.x", ""},
		{"$JS.API.STREAM.MSG.DELETE." + bucket, "_INBOX.x", `{"seq":1}`}, {"$JS.API.STREAM.UPDATE." + bucket, "_INBOX.x", `{"name":"KV_CANDOR_SHARED"}`},
		{"$JS.API.CONSUMER.CREATE." + bucket, "_INBOX.x", `{"stream_name":"KV_CANDOR_SHARED","config":{"deliver_subject":"` + victim + `"}}`},
	} {
		if err := hostile.PublishRequest(attack[0], attack[1], []byte(attack[2])); err != nil {
			t.Fatal(err)
		}
	}
	rollup := nats.NewMsg("$KV.CANDOR_SHARED.web-1.catalogue")
	rollup.Header.Set("Nats-Rollup", "all") // it would remove all other values
	if err := hostile.PublishMsg(rollup); err != nil {
		t.Fatal(err)
	}
	if _, err := hostile.Request("$KV.CANDOR_SHARED.web-1.last", []byte("x"), 10*time.Second); err != nil { // the others were handled before
		t.Fatal(err)
	}
	v, err := kv.Get(t.Context(), "web-2.catalogue")
	if err != nil {
		t.Errorf("the value of the other node is gone: %v", err)
	} else if string(v.Value()) != `{}` || v.Revision() != 1 {
		t.Errorf("the value of the other node was changed: %s", v.Value())
	}
	if m, err := heard.NextMsg(50 * time.Millisecond); err == nil {
		t.Errorf("others heard in the name of web-2: %s %s", m.Subject, m.Data)
	}
}

func nkey(t *testing.T, seed string) nats.Option {
	t.Helper()
	option, err := nats.NkeyOptionFromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	return option
}
