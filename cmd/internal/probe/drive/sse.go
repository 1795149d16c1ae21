package drive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// sse is a link with the transport of protocol version 2024-11-05: messages are posted to an endpoint that an event stream names, and
// answers come in that stream.
type sse struct {
	*client
	endpoint string
	came     chan arrival
	streamed chan arrival    // messages of the stream; closed at its end
	refused  chan arrival    // error responses to a POST
	over     chan struct{}   // closed with came
	ctx      context.Context //nolint:containedctx // ends with close, not with a call
	cancel   context.CancelFunc
}

var errNoStream = errors.New("no event stream at this URL")

// openSSE opens the stream and waits for the endpoint, for as long as ctx allows.
func openSSE(ctx context.Context, t Target) (*sse, error) {
	at, err := parseAddress(t.URL)
	if err != nil {
		return nil, err
	}
	s := &sse{client: newClient(t), came: make(chan arrival), streamed: make(chan arrival), refused: make(chan arrival), over: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	named, failed := make(chan string, 1), make(chan error, 1)
	go s.listen(at, named, failed)
	go s.merge()
	select {
	case s.endpoint = <-named:
		return s, nil
	case err = <-failed:
	case <-ctx.Done():
		err = fmt.Errorf("no endpoint was named: %w", ctx.Err())
	}
	s.close(false)
	return nil, err
}

// listen reads the stream until it is over.
func (s *sse) listen(at *url.URL, named chan<- string, failed chan<- error) {
	defer close(s.streamed)
	h := http.Header{}
	h.Set("Accept", eventStream)
	r, err := s.do(s.ctx, http.MethodGet, at.String(), nil, h)
	if err != nil {
		failed <- err
		return
	}
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode != http.StatusOK || !isEventStream(r) {
		failed <- fmt.Errorf("%w: HTTP %d", errNoStream, r.StatusCode)
		return
	}
	err = events(r.Body, s.pass, func(kind string, data []byte) {
		if kind != "endpoint" {
			return
		}
		to, err := at.Parse(string(data))
		if err != nil || to.Host != at.Host || to.Scheme != at.Scheme {
			err = errors.New("the event stream names an endpoint on another host, which is not allowed")
			select {
			case failed <- err:
			default: // only the first error counts
			}
			return
		}
		select {
		case named <- to.String():
		default: // only the first endpoint counts
		}
	})
	select {
	case failed <- fmt.Errorf("the event stream ended before it named an endpoint: %w", errors.Join(errNoStream, err)):
	default:
	}
}

func (s *sse) pass(a arrival) bool {
	select {
	case s.streamed <- a:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// merge combines streamed and refused into came, until the stream ends.
func (s *sse) merge() {
	defer close(s.over)
	defer close(s.came)
	for {
		var a arrival
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

// send posts a message. The response to the POST counts only if it is an error. The POST is not cancelled when the answer arrives in the
// stream, because its connection may then already be in use for the next message.
func (s *sse) send(ctx context.Context, turn int, message []byte) error {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	post, cancel := context.WithTimeout(s.ctx, postWait)
	defer cancel()
	r, err := s.do(post, http.MethodPost, s.endpoint, message, h)
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	a, err := body(r)
	if err != nil || r.StatusCode < http.StatusMultipleChoices {
		return err
	}
	a.turn = turn
	select {
	case s.refused <- a:
	case <-s.over:
	case <-ctx.Done():
	}
	return nil
}

func (s *sse) arrivals() <-chan arrival { return s.came }
func (s *sse) exchanges() bool          { return false }
func (s *sse) agreed(string)            {}

func (s *sse) close(bool) {
	s.cancel()
	s.client.close()
}
