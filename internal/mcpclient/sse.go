package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// SSE is a connection with the transport of protocol version 2024-11-05: messages are posted to an endpoint that an event
// stream names, and answers come in that stream.
type SSE struct {
	web
	endpoint string
	came     chan Message
	streamed chan Message    // messages of the stream; closed at its end
	refused  chan Message    // error responses to a POST
	over     chan struct{}   // closed with came
	ctx      context.Context //nolint:containedctx // ends with Close, not with a call
	cancel   context.CancelFunc
}

// ErrNoStream is the error of [OpenSSE] for a URL that does not answer with an event stream.
var ErrNoStream = errors.New("no event stream at this URL")

// OpenSSE opens the stream and waits for the endpoint, for as long as ctx allows.
func OpenSSE(ctx context.Context, at *url.URL, o HTTPOptions) (*SSE, error) {
	s := &SSE{web: newWeb(o), came: make(chan Message), streamed: make(chan Message), refused: make(chan Message), over: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	named, failed := make(chan string, 1), make(chan error, 1)
	go s.listen(at, named, failed)
	go s.merge()
	var err error
	select {
	case s.endpoint = <-named:
		return s, nil
	case err = <-failed:
	case <-ctx.Done():
		err = fmt.Errorf("no endpoint was named: %w", ctx.Err())
	}
	s.Close(false)
	return nil, err
}

// listen reads the stream until it is over. Of the endpoints and of the errors only the first counts.
func (s *SSE) listen(at *url.URL, named chan<- string, failed chan<- error) {
	defer close(s.streamed)
	fail := func(err error) {
		select {
		case failed <- err:
		default:
		}
	}
	r, err := s.do(s.ctx, http.MethodGet, at.String(), nil, http.Header{"Accept": {eventStream}})
	if err != nil {
		fail(err)
		return
	}
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode != http.StatusOK || mediaType(r) != eventStream {
		fail(fmt.Errorf("%w: HTTP %d", ErrNoStream, r.StatusCode))
		return
	}
	err = s.events(r.Body, s.pass, func(kind string, data []byte) {
		if kind != "endpoint" {
			return
		}
		to, err := at.Parse(string(data))
		if err != nil || to.Host != at.Host || to.Scheme != at.Scheme {
			fail(errors.New("the event stream names an endpoint on another host, which is not allowed"))
			return
		}
		select {
		case named <- to.String():
		default:
		}
	})
	fail(fmt.Errorf("the event stream ended before it named an endpoint: %w", errors.Join(ErrNoStream, err)))
}

func (s *SSE) pass(a Message) bool {
	select {
	case s.streamed <- a:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// merge combines streamed and refused into came, until the stream ends.
func (s *SSE) merge() {
	defer close(s.over)
	defer close(s.came)
	for {
		var a Message
		var open bool
		select {
		case a, open = <-s.streamed:
			if !open {
				return
			}
		case a = <-s.refused:
		}
		select {
		case s.came <- a:
		case <-s.ctx.Done():
			return
		}
	}
}

// Send implements [Conn]. The response to the POST counts only if it is an error. The POST is not cancelled when the answer
// arrives in the stream, because its connection may then already be in use for the next message.
func (s *SSE) Send(ctx context.Context, tag int, message []byte) error {
	post, cancel := context.WithTimeout(s.ctx, postWait)
	defer cancel()
	r, err := s.do(post, http.MethodPost, s.endpoint, message, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	a, err := s.body(r)
	if err != nil || r.StatusCode < http.StatusMultipleChoices {
		return err
	}
	a.Tag, a.Body = tag, true
	select {
	case s.refused <- a:
	case <-s.over:
	case <-ctx.Done():
	}
	return nil
}

// Messages implements [Conn].
func (s *SSE) Messages() <-chan Message { return s.came }

// Exchanges implements [Conn].
func (s *SSE) Exchanges() bool { return false }

// Agree implements [Conn]: the transport has no version header.
func (s *SSE) Agree(string) {}

// Close implements [Conn].
func (s *SSE) Close(bool) {
	s.cancel()
	s.http.CloseIdleConnections()
}
