package drive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// sse is a link as of 2024-11-05: messages are POSTed to an endpoint that an event stream names, and answers come in that stream.
type sse struct {
	*client
	endpoint string
	came     chan arrival
	streamed chan arrival    // what the stream holds; closed when it is over
	refused  chan arrival    // what a POST was refused with
	over     chan struct{}   // closed with came
	ctx      context.Context //nolint:containedctx // the life of the stream, which ends with close and not with a call
	cancel   context.CancelFunc
}

var errNoStream = errors.New("there is no event stream at this address")

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
			err = errors.New("the event stream names an endpoint on another host, which is not followed")
			select {
			case failed <- err:
			default: // it is told once
			}
			return
		}
		select {
		case named <- to.String():
		default: // the first one counts
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

// merge makes one flow of both, which ends with the stream.
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

// send posts a message. What the POST itself answers counts only if it refuses. It is not cut off when the answer has come in the stream:
// the connection that is cut might by then be that of the next message.
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
func (s *sse) stderr(*mask) string      { return "" }
func (s *sse) epitaph() string          { return "" }

func (s *sse) close(bool) {
	s.cancel()
	s.client.close()
}
