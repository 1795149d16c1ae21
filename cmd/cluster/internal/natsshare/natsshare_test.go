package natsshare_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
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
	if v := late.await(t, "catalogue"); v.Node != "a" || v.Age <= 0 {
		t.Errorf("from the bucket: %+v", v)
	}
	if got := a.values(); len(got) != 0 {
		t.Errorf("a hears itself: %+v", got)
	}
}

func TestPublishNeverWaitsForAStalledServer(t *testing.T) {
	c := natscluster.Start(t, natscluster.Options{})
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
			if v.Key != "breaker.2" {
				t.Errorf("%s: a message with headers was passed on: %+v", name, v)
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

// A node with the rights of Grant can use the bucket, and can neither speak for another node nor change the bucket.
func TestGrantAllowsOwnValuesOnly(t *testing.T) {
	key, seed := natscluster.NewUser(t)
	publish, subscribe := natsshare.Grant(natsshare.DefaultBucket, "web-1")
	c := natscluster.Start(t, natscluster.Options{Users: []string{user(key, publish, subscribe)}})
	operator := connect(t, c.URL(), nkey(t, c.OperatorSeed))
	kv := setUp(t, operator)
	put := func(key string) {
		t.Helper()
		if _, err := kv.Put(t.Context(), key, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	put("web-2.catalogue")
	node := join(t, c.URL()+"?node=web-1&nkey="+seed)
	node.await(t, "catalogue")
	eventually(t, "a live value", func() bool {
		put("web-2.breaker.1")
		for _, v := range node.values() {
			if v.Key == "breaker.1" && v.Age == 0 {
				return true
			}
		}
		return false
	})
	node.Publish("catalogue", []byte(`{"version":"v1"}`))
	eventually(t, "the value of the node", func() bool { _, err := kv.Get(t.Context(), "web-1.catalogue"); return err == nil })
	if s := node.Status(); !s.Connected || s.Problem != "" {
		t.Errorf("status %+v", s)
	}

	denied := make(chan error, 100)
	hostile := connect(t, c.URL(), nkey(t, seed), nats.CustomInboxPrefix("_INBOX_web-1"), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))
	for _, subject := range []string{
		"$KV.CANDOR_SHARED.web-2.catalogue", "$KV.CANDOR_SHARED.web-10.catalogue", "$JS.API.STREAM.DELETE.KV_CANDOR_SHARED", "$JS.API.STREAM.PURGE.KV_CANDOR_SHARED",
		"$JS.API.STREAM.UPDATE.KV_CANDOR_SHARED", "$JS.API.STREAM.MSG.DELETE.KV_CANDOR_SHARED", "$JS.API.CONSUMER.CREATE.KV_CANDOR_SHARED",
	} {
		if err := hostile.Publish(subject, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		if err := hostile.Flush(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-denied:
			if !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
				t.Errorf("%s: %v", subject, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("publishing to %s is allowed", subject)
		}
	}
	if v, err := kv.Get(t.Context(), "web-2.catalogue"); err != nil || string(v.Value()) != `{}` {
		t.Errorf("the value of another node: %v, %v", v, err)
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

func user(key string, publish, subscribe []string) string {
	return fmt.Sprintf(`{ nkey: %s, permissions: { publish: ["%s"], subscribe: ["%s"] } }`, key, strings.Join(publish, `", "`), strings.Join(subscribe, `", "`))
}
