// Package natsshare carries what gateways share about failures over NATS: each node publishes under its own name into one JetStream
// key-value bucket. The server publishes again what the bucket has accepted, for all nodes, and the bucket keeps the last values for nodes
// that start later.
//
// A node needs the right to publish below its own name, to subscribe to the bucket, and to read it: see [Exports]. The server knows nothing
// about the nodes but their subscriptions, because a right to create consumers could be used against others.
//
// No caller waits for the network. A connection that is stalled or away loses values, which costs nothing but the sharing.
package natsshare

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/gateway/share"
)

// Schemes are the URL schemes of the engine.
var Schemes = []string{"nats", "tls"}

// DefaultBucket is the bucket if the URL has no path.
const DefaultBucket = "CANDOR_SHARED"

// Limits on what waits for the network, and what arrives from it.
const (
	maxQueued       = 256 // values that wait to be sent; the oldest are dropped
	maxPending      = 4096
	maxPendingBytes = 8 << 20
	connectTimeout  = 5 * time.Second
	catchUpAttempts = 10
	closeTimeout    = time.Second
	writeTimeout    = 5 * time.Second
)

// Bus is a connection to a bucket.
type Bus struct {
	node    string
	bucket  string
	options []nats.Option
	servers string
	log     *slog.Logger

	conn      atomic.Pointer[nats.Conn]
	receive   func(share.Value)
	connected func()

	queue queue
	stop  chan struct{}
	wait  sync.WaitGroup

	sent, received, dropped atomic.Uint64
	problem                 atomic.Pointer[string]
}

// Open prepares a connection. It fails only if the address or a file that it names is wrong: it does not connect.
func Open(address string, o share.OpenOptions) (share.Bus, error) {
	at, err := fleet.ParseLocation(address)
	if err != nil {
		return nil, err
	}
	bucket := strings.Trim(at.URL.Path, "/")
	if bucket == "" {
		bucket = DefaultBucket
	}
	if !fleet.ValidNode(bucket) {
		return nil, fmt.Errorf("%q is not the name of a bucket (hint: letters, digits, hyphens and underscores)", bucket)
	}
	if at.URL.Host == "" {
		return nil, errors.New("the address names no host")
	}
	b := &Bus{node: at.Node, bucket: bucket, servers: serverList(at.URL), log: o.Log, stop: make(chan struct{})}
	b.queue.wake = make(chan struct{}, 1)
	if b.options, err = b.connectOptions(at.URL); err != nil {
		return nil, err
	}
	return b, nil
}

// serverList returns the servers of an address, such as nats://a:4222,nats://b:4222.
func serverList(u *url.URL) string {
	var all []string
	for _, host := range strings.Split(u.Host, ",") {
		all = append(all, u.Scheme+"://"+host)
	}
	return strings.Join(all, ",")
}

var errLost = errors.New("the connection was lost")

// connectOptions returns the options for the parameters of the address.
func (b *Bus) connectOptions(u *url.URL) ([]nats.Option, error) {
	options := []nats.Option{
		nats.Name("candor gateway " + b.node), nats.NoEcho(), nats.Timeout(connectTimeout), nats.MaxReconnects(-1), nats.CustomReconnectDelay(reconnectDelay),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectBufSize(-1), // what cannot be sent now is out of date later
		nats.FlusherTimeout(writeTimeout), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.CustomInboxPrefix(inboxPrefix(b.node)),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { b.setProblem(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err == nil {
				err = errLost
			}
			b.setProblem(err)
			b.log.Warn("share: not connected, this gateway decides alone", slog.Any("error", err))
		}),
		nats.ReconnectHandler(b.ready), nats.ConnectHandler(b.ready),
	}
	query := u.Query()
	for name := range query {
		value := query.Get(name)
		if err := checkFile(name, value); err != nil {
			return nil, err
		}
		switch name {
		case "creds":
			options = append(options, nats.UserCredentials(value))
		case "nkey":
			option, err := nats.NkeyOptionFromSeed(value)
			if err != nil {
				return nil, errors.New("nkey: the file cannot be read, or has no seed of an nkey") // the error may quote the seed
			}
			options = append(options, option)
		case "ca":
			options = append(options, nats.RootCAs(value))
		case "cert":
			options = append(options, nats.ClientCert(value, query.Get("key")))
		case "key":
		default:
			return nil, fmt.Errorf("%q is not a parameter of share (known: node, creds, nkey, ca, cert, key)", name)
		}
	}
	return options, nil
}

// checkFile returns an error if a parameter names a file that cannot be used: one that does not exist, or one with a secret that other users
// can read.
func checkFile(name, path string) error {
	isSecret := name == "creds" || name == "nkey" || name == "key"
	if !isSecret && name != "ca" && name != "cert" {
		return nil
	}
	info, err := os.Stat(path)
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s=%s: %w", name, path, wrong.Err)
	}
	if err == nil && isSecret && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s=%s: other users can read the file (hint: chmod 600)", name, path)
	}
	return err
}

// inboxPrefix returns where answers for a node arrive. Each node has its own, so that no node can read the answers of another.
func inboxPrefix(node string) string { return "_INBOX_" + node }

// subject returns the beginning of the subjects of a bucket.
func subject(bucket string) string { return "$KV." + bucket + "." }

// liveSubject returns the beginning of the subjects to which the server publishes again what a bucket has accepted. A message that crosses
// from the account of a node into that of the bucket does not go on to a third account by itself.
func liveSubject(bucket string) string { return "candor.shared." + bucket + "." }

// Listen implements [share.Bus].
func (b *Bus) Listen(receive func(share.Value), connected func()) {
	b.receive, b.connected = receive, connected
	b.wait.Go(b.send)
}

// Publish implements [share.Bus].
func (b *Bus) Publish(key string, value []byte) {
	b.dropped.Add(b.queue.put(key, value))
}

// send connects and sends what is queued. Only this goroutine waits for the network.
func (b *Bus) send() {
	conn, err := nats.Connect(b.servers, b.options...)
	if err != nil {
		b.setProblem(err)
		b.log.Warn("share: the configuration of the connection is wrong, this gateway decides alone", slog.Any("error", err))
		return
	}
	defer conn.Close()
	b.conn.Store(conn)
	if err := b.subscribe(conn); err != nil {
		b.setProblem(err)
	}
	for {
		select {
		case <-b.stop:
			return
		case <-b.queue.wake:
		}
		for key, value, ok := b.queue.take(); ok; key, value, ok = b.queue.take() {
			if err := conn.Publish(subject(b.bucket)+b.node+"."+key, value); err != nil {
				b.dropped.Add(1)
				continue
			}
			b.sent.Add(1)
		}
	}
}

// ready is called after each connection.
func (b *Bus) ready(conn *nats.Conn) {
	b.problem.Store(nil)
	b.log.Info("share: connected")
	b.connected()
	go b.catchUp(conn) // it ends with the connection
}

// catchUp reads the bucket. After a restart a server accepts connections before it has its buckets, so this is tried for a while.
func (b *Bus) catchUp(conn *nats.Conn) {
	for attempt := range catchUpAttempts {
		err := b.readBucket(conn)
		switch {
		case err == nil && attempt == 0:
			return
		case err == nil:
			b.problem.Store(nil)
			b.connected() // the bucket may not have had what was sent before
			return
		case !conn.IsConnected():
			return // the next connection tries again
		}
		b.setProblem(err)
		select {
		case <-b.stop:
			return
		case <-time.After(reconnectDelay(attempt)):
		}
	}
	b.log.Warn("share: the bucket cannot be read, so this gateway decides alone (hint: an operator creates it with candor-cluster fleet setup)",
		slog.String("bucket", b.bucket))
}

// reconnectDelay grows to five seconds, with a random part so that not all nodes connect at the same moment.
func reconnectDelay(attempt int) time.Duration {
	base := min(50*time.Millisecond<<min(attempt, 7), 5*time.Second)
	return base/2 + rand.N(base) //nolint:gosec // spreads connections, guards nothing
}

func (b *Bus) subscribe(conn *nats.Conn) error {
	prefix := liveSubject(b.bucket)
	sub, err := conn.Subscribe(prefix+">", func(m *nats.Msg) { b.pass(strings.TrimPrefix(m.Subject, prefix), m.Data, 0) })
	if err != nil {
		return err
	}
	return sub.SetPendingLimits(maxPending, maxPendingBytes)
}

// pass hands a value of another node to the gateway. The name is NODE.KEY.
func (b *Bus) pass(name string, data []byte, age time.Duration) {
	node, key, found := strings.Cut(name, ".")
	if !found || node == b.node {
		return
	}
	b.received.Add(1)
	b.receive(share.Value{Node: node, Key: key, Data: data, Age: age})
}

func (b *Bus) setProblem(err error) {
	text := err.Error()
	b.problem.Store(&text)
}

// Status implements [share.Bus].
func (b *Bus) Status() share.BusStatus {
	s := share.BusStatus{Sent: b.sent.Load(), Received: b.received.Load(), Dropped: b.dropped.Load()}
	conn := b.conn.Load()
	s.Connected = conn != nil && conn.IsConnected()
	if p := b.problem.Load(); p != nil {
		s.Problem = *p
	}
	return s
}

// Close implements [share.Bus]. It does not wait for a stalled network.
func (b *Bus) Close() error {
	close(b.stop)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if conn := b.conn.Load(); conn != nil {
			conn.Close()
		}
		b.wait.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(closeTimeout):
	}
	return nil
}
