package natsstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/candor-mcp/candor"
)

// connect opens the connection of the store.
func (s *store) connect(ctx context.Context) error {
	options, err := s.options()
	if err != nil {
		return err
	}
	connection, err := dial(ctx, s.params.servers, options...)
	if err != nil && ctx.Err() != nil {
		return s.failed("connecting", ctx.Err())
	}
	if isRefusal(err) {
		return candor.New(candor.CodePermissionDenied, "the server refuses the credentials of this node", candor.WithCause(err))
	}
	if err != nil {
		s.log.Warn("the store cannot be reached yet", slog.String("store", s.at.String()), slog.String("error", err.Error()))
		connection, err = dial(ctx, s.params.servers, append(options, nats.RetryOnFailedConnect(true))...)
	}
	if err != nil {
		return s.failed("connecting", err)
	}
	s.conn = connection
	return nil
}

// dial connects to one of the servers. [nats.Connect] knows no context and waits for each server in turn, so it runs by itself: if ctx ends
// first, dial returns, and a connection that is made later is closed.
func dial(ctx context.Context, servers string, options ...nats.Option) (*nats.Conn, error) {
	type result struct {
		connection *nats.Conn
		err        error
	}
	connected := make(chan result) // without a buffer, so that a value that was sent has been received
	go func() {
		connection, err := nats.Connect(servers, options...)
		select {
		case connected <- result{connection, err}:
		case <-ctx.Done():
			if err == nil {
				connection.Close()
			}
		}
	}()
	select {
	case r := <-connected:
		return r.connection, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// isRefusal reports whether a server answered and does not accept the client.
func isRefusal(err error) bool {
	for _, refusal := range []error{
		nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired, nats.ErrNkeysNotSupported,
	} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// options returns the options of a connection.
func (s *store) options() ([]nats.Option, error) {
	p := s.params
	options := []nats.Option{
		nats.Name("candor " + p.node), nats.CustomInboxPrefix("_INBOX_" + p.node),
		nats.Timeout(requestTimeout), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.MaxReconnects(-1), nats.CustomReconnectDelay(reconnectDelay), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectBufSize(-1), // a line that cannot be sent now is an error now, and not sent later
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { s.denied.report(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				s.log.Warn("the connection to the store was lost", slog.String("store", s.at.String()), slog.String("error", err.Error()))
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { s.log.Info("connected to the store again", slog.String("store", s.at.String())) }),
	}
	user, err := credentials(p.creds, p.nkey)
	if err != nil {
		return nil, err
	}
	options = append(options, user...)
	if p.ca != "" {
		if err := readable("ca", p.ca); err != nil {
			return nil, err
		}
		options = append(options, nats.RootCAs(p.ca))
	}
	if p.cert != "" {
		if err := errors.Join(readable("cert", p.cert), readable("key", p.key)); err != nil {
			return nil, err
		}
		options = append(options, nats.ClientCert(p.cert, p.key))
	}
	if strings.HasPrefix(p.servers, "tls:") {
		options = append(options, nats.Secure())
	}
	return options, nil
}

// reconnectDelay grows to five seconds, with a random part so that a fleet does not connect at the same moment.
func reconnectDelay(attempts int) time.Duration {
	base := min(50*time.Millisecond<<min(attempts, 7), 5*time.Second)
	return base/2 + rand.N(base) //nolint:gosec // spreads attempts
}

// credentials returns the options for a .creds file or a file with the seed of an nkey. Errors contain the names of files, never their
// content.
func credentials(creds, nkey string) ([]nats.Option, error) {
	switch {
	case creds != "":
		if err := readable("creds", creds); err != nil {
			return nil, err
		}
		return []nats.Option{nats.UserCredentials(creds)}, nil
	case nkey != "":
		if err := readable("nkey", nkey); err != nil {
			return nil, err
		}
		option, err := nats.NkeyOptionFromSeed(nkey)
		if err != nil {
			return nil, invalid("nkey=%s: the file does not hold the seed of an nkey", nkey)
		}
		return []nats.Option{option}, nil
	default:
		return nil, nil
	}
}

// maxCredentials is far above the size of any file of credentials.
const maxCredentials = 64 << 10

func readable(name, path string) error {
	info, err := os.Stat(path)
	var wrong *fs.PathError
	switch {
	case errors.As(err, &wrong):
		return invalid("%s=%s: %v", name, path, wrong.Err)
	case err != nil:
		return invalid("%s=%s: it cannot be read", name, path)
	case !info.Mode().IsRegular() || info.Size() > maxCredentials:
		return invalid("%s=%s: not a file, or larger than %d KiB", name, path, maxCredentials>>10)
	}
	return nil
}

// denials passes the refusals of a server, which it reports for a subject and not for a request, to the requests that wait for an answer.
// The zero value is ready for use.
type denials struct {
	mu      sync.Mutex
	waiting map[*func()]string // subjects by what to call
}

// watch calls stop if the server refuses to publish to the subject, until the returned function is called.
func (d *denials) watch(subject string, stop func()) (done func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting == nil {
		d.waiting = map[*func()]string{}
	}
	d.waiting[&stop] = subject
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.waiting, &stop)
	}
}

// report reads the subject from an error such as: Permissions Violation for Publish to "SUBJECT".
func (d *denials) report(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	_, rest, found := strings.Cut(err.Error(), `Publish to "`)
	subject, _, closed := strings.Cut(rest, `"`)
	if !found || !closed {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for stop, waiting := range d.waiting {
		if waiting == subject {
			(*stop)()
		}
	}
}

var errDenied = errors.New("the credentials do not allow it")

// request sends a message and returns the answer. The error is errDenied if the server refuses the subject.
func (s *store) request(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	watched, refuse := context.WithCancelCause(limited)
	defer refuse(nil)
	defer s.denied.watch(m.Subject, func() { refuse(errDenied) })()
	answer, err := s.conn.RequestMsgWithContext(watched, m)
	if err != nil && errors.Is(context.Cause(watched), errDenied) {
		return nil, errDenied
	}
	return answer, err
}

// failed returns an error of the class that says what to do.
func (s *store) failed(what string, err error) error {
	var coded *candor.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	code, text := classify(err)
	return candor.New(code, fmt.Sprintf("%s, store %s: %s", what, s.at, text), candor.WithCause(err), candor.WithOrigin(candor.PartyServer, false))
}

func classify(err error) (code candor.Code, text string) {
	var api *apiError
	switch {
	case errors.Is(err, context.Canceled):
		return candor.CodeCancelled, "cancelled"
	case errors.Is(err, errDenied), isRefusal(err):
		return candor.CodePermissionDenied, errDenied.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return candor.CodeTimeout, "no answer in time"
	case errors.Is(err, nats.ErrMaxPayload):
		return candor.CodeTooLarge, "a line is larger than the server allows (hint: set max_payload: 4MB in the configuration of each server)"
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrNoServers):
		return candor.CodeUnavailable, "no server can be reached"
	case errors.As(err, &api):
		return api.class()
	default:
		return candor.CodeUnavailable, err.Error()
	}
}
