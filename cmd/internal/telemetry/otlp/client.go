package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/candor-mcp/candor"
)

// client posts messages to one address.
type client struct {
	settings Settings
	http     *http.Client
}

func newClient(s Settings) *client {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: s.TLS, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
	}
	return &client{settings: s, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // headers may hold a credential
	}}
}

// maxResponse bounds the part of a response that is read.
const maxResponse = 64 << 10

// firstDelay is the delay before the first retry. It doubles with each one.
const firstDelay = 200 * time.Millisecond

// post sends a message and decodes the response. It retries as OTLP says until the timeout.
func (c *client) post(ctx context.Context, message, response proto.Message) error {
	body, err := c.encode(message)
	if err != nil {
		return err
	}
	if c.settings.Gzip {
		body = compress(body)
	}
	ctx, cancel := context.WithTimeout(ctx, c.settings.Timeout)
	defer cancel()
	for delay := firstDelay; ; delay *= 2 {
		after, err := c.try(ctx, body, response)
		if err == nil || after < 0 {
			return err
		}
		wait := max(after, delay/2+rand.N(delay)) //nolint:gosec // spreads retries, guards nothing
		select {
		case <-ctx.Done():
			return err // more helpful than that of the context
		case <-time.After(wait):
		}
	}
}

func (c *client) encode(m proto.Message) ([]byte, error) {
	if c.settings.JSON {
		return protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
	}
	return proto.Marshal(m)
}

func (c *client) decode(text []byte, m proto.Message) error {
	if c.settings.JSON {
		return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, m)
	}
	return proto.Unmarshal(text, m)
}

// id returns the bytes of the id of a trace or span for a message. OTLP writes them in hexadecimal in JSON, where protobuf writes
// bytes in base64: so it gets those bytes whose base64 is the hexadecimal number.
func (c *client) id(id []byte) []byte {
	if !c.settings.JSON {
		return id
	}
	spelt, err := base64.StdEncoding.DecodeString(hex.EncodeToString(id))
	if err != nil { // not possible: ids have 8 or 16 bytes
		return nil
	}
	return spelt
}

func compress(body []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(body) // a buffer does not fail
	_ = w.Close()        // as above
	return packed.Bytes()
}

// try sends the body once. If that fails, after is the least delay before a retry, or negative if a retry is useless.
func (c *client) try(ctx context.Context, body []byte, response proto.Message) (after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.settings.URL, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	if c.settings.JSON {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", "candor-otlp")
	if c.settings.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	for name, value := range c.settings.Headers {
		req.Header.Set(name, value)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	switch {
	case err != nil:
		return 0, err
	case res.StatusCode >= 200 && res.StatusCode < 300:
		_ = c.decode(text, response) // the data was accepted, also if the response is unreadable
		return 0, nil
	}
	err = fmt.Errorf("the receiver responded with status %d", res.StatusCode)
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return time.Duration(max(0, seconds)) * time.Second, err
	default:
		return -1, err
	}
}

// ForceFlush does nothing, because an exporter keeps nothing.
func (*client) ForceFlush(context.Context) error { return nil }

// Shutdown closes idle connections.
func (c *client) Shutdown(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// RejectedError reports items that the receiver did not accept.
type RejectedError struct {
	Count  int64
	Reason string
}

// Error implements error.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("the receiver rejected %d items: %q", e.Count, e.Reason)
}

const maxReason = 512

func rejected(count int64, reason string) error {
	if count <= 0 {
		return nil
	}
	return &RejectedError{Count: count, Reason: candor.Public(reason, maxReason)} // the text is of the receiver, and it is logged
}
