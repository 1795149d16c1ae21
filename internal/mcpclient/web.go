package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"time"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// HTTPOptions configures a connection over HTTP.
type HTTPOptions struct {
	Header   http.Header // sent with every request; it replaces other headers of the same name
	MaxBytes int         // of one event or body; 0 is [MaxBytes]
	Follow   bool        // follow redirects on the same host
	Renew    bool        // start another session if the server does not know the session
	// Headers adds headers to those of a message that is posted; it may be nil.
	Headers func(h http.Header, m *wire.Message)
}

const (
	maxRedirects = 3
	dialWait     = 10 * time.Second
	postWait     = 30 * time.Second // for the response to a POST over SSE
	eventStream  = "text/event-stream"
)

// web makes the HTTP requests of both HTTP transports.
type web struct {
	http *http.Client
	o    HTTPOptions
}

func newWeb(o HTTPOptions) web {
	o.MaxBytes = cmp.Or(o.MaxBytes, MaxBytes)
	dialer := net.Dialer{Timeout: dialWait}
	return web{o: o, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: dialWait, ForceAttemptHTTP2: true,
			MaxResponseHeaderBytes: 1 << 20, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			// The headers hold secrets that another host must not get.
			if first := before[0].URL; !o.Follow || next.URL.Host != first.Host || next.URL.Scheme != first.Scheme || len(before) > maxRedirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// do makes a request. The caller closes the response body. An empty value in the header of the options removes a header.
func (w *web) do(ctx context.Context, method, address string, body []byte, header http.Header) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	for name, values := range w.o.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
		r.Header.Del("Host")
	}
	return w.http.Do(r)
}

// body reads a response body that is not an event stream.
func (w *web) body(r *http.Response) (Message, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, int64(w.o.MaxBytes)+1))
	m := Message{Data: text, Size: int64(len(text)), Body: true}
	if m.Cut = len(text) > w.o.MaxBytes; m.Cut {
		m.Data = text[:w.o.MaxBytes]
	}
	m.ofResponse(r)
	return m, err
}

func (m *Message) ofResponse(r *http.Response) {
	m.Status, m.Type, m.RetryAfter = r.StatusCode, mediaType(r), r.Header.Get("Retry-After")
}

func mediaType(r *http.Response) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// events passes the messages of an event stream to pass until it returns false, and events of another type, such as an
// endpoint, to other.
func (w *web) events(r io.Reader, pass func(Message) bool, other func(kind string, data []byte)) error {
	stream := framing.NewEventReader(r, wire.Limits{MaxBytes: w.o.MaxBytes})
	for {
		e, err := stream.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case e.Flaw == wireflaw.None && (len(e.Data) == 0 || e.Unended): // a comment, or an event that only has an id
		case e.Flaw == wireflaw.None && len(e.Type) > 0 && string(e.Type) != "message":
			other(string(e.Type), e.Data)
		case !pass(ofEvent(e)):
			return nil
		}
	}
}
