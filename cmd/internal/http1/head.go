package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

// maxHead bounds the status line and the headers of a response together, and its trailers. One line may use all of it.
const maxHead = 64 << 10

// ErrMalformed is wrapped by every error for a response that is not HTTP or is ambiguous.
var ErrMalformed = errors.New("malformed HTTP answer")

func malformed(what string) error { return errors.Join(ErrMalformed, errors.New(what)) }

// head is the status line and the headers of a response.
type head struct {
	status int
	header http.Header
	old    bool // HTTP/1.0: the connection ends with the response
}

// readHead reads the status line and the headers.
func readHead(in *bufio.Reader) (head, error) {
	line, err := readLine(in, maxHead)
	if err != nil {
		return head{}, err
	}
	h, err := parseStatus(line)
	if err != nil {
		return head{}, err
	}
	h.header = make(http.Header, 8)
	values := make([]string, 0, 8)
	for left := maxHead - len(line); ; left -= len(line) + 2 {
		line, err = readLine(in, max(left, 0))
		switch {
		case errors.Is(err, errLongLine):
			return head{}, errors.Join(err, ErrHeaderTooLarge)
		case err != nil:
			return head{}, unexpected(err)
		case len(line) == 0:
			return h, nil
		}
		name, value, err := parseField(line)
		if err != nil {
			return head{}, err
		}
		if h.header[name] != nil {
			h.header[name] = append(h.header[name], value)
			continue
		}
		values = append(values, value)
		h.header[name] = values[len(values)-1 : len(values) : len(values)]
	}
}

// ErrHeaderTooLarge is wrapped by the error for a response whose status line and headers exceed 64 KiB.
var ErrHeaderTooLarge = errors.New("headers larger than 64 KiB")

var errLongLine = errors.New("line too long")

// readLine reads a line of at most limit bytes that ends in CRLF. It is valid until the next read.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = readLongLine(in, line, limit)
	}
	switch {
	case err == nil && len(line)-2 > limit:
		return nil, errors.Join(ErrMalformed, errLongLine)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case len(line) < 2 || line[len(line)-2] != '\r':
		return nil, malformed("line without CRLF")
	}
	line = line[:len(line)-2]
	if bytes.IndexByte(line, '\r') >= 0 || bytes.IndexByte(line, 0) >= 0 {
		return nil, malformed("control character in a line")
	}
	return line, nil
}

// readLongLine continues a line that does not fit in the buffer of the reader.
func readLongLine(in *bufio.Reader, start []byte, limit int) ([]byte, error) {
	line := append(make([]byte, 0, 2*len(start)), start...)
	for len(line) <= limit {
		more, err := in.ReadSlice('\n')
		line = append(line, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
	return nil, errors.Join(ErrMalformed, errLongLine)
}

// unexpected replaces io.EOF by io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func parseStatus(line []byte) (head, error) {
	rest, new11 := bytes.CutPrefix(line, []byte("HTTP/1.1 "))
	if !new11 {
		var is10 bool
		if rest, is10 = bytes.CutPrefix(line, []byte("HTTP/1.0 ")); !is10 {
			return head{}, malformed("not HTTP/1")
		}
	}
	if len(rest) < 3 || len(rest) > 3 && rest[3] != ' ' {
		return head{}, malformed("status line")
	}
	status := 0
	for _, c := range rest[:3] {
		if c < '0' || c > '9' {
			return head{}, malformed("status line")
		}
		status = status*10 + int(c-'0')
	}
	if status < 100 || status > 599 {
		return head{}, malformed("status")
	}
	return head{status: status, old: !new11}, nil
}

// parseField parses one header line. A continuation line is refused, as RFC 9112 allows, because parsers treat it differently.
func parseField(line []byte) (name, value string, err error) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return "", "", malformed("header without name")
	}
	raw := line[:colon]
	name, known := names[string(raw)]
	if !known {
		if name = string(raw); !isToken(name) {
			return "", "", malformed("header name")
		}
		name = http.CanonicalHeaderKey(name)
	}
	trimmed := bytes.Trim(line[colon+1:], " \t")
	if value, known = common[string(trimmed)]; !known {
		value = string(trimmed)
	}
	return name, value, nil
}

// isToken reports whether a name consists of characters that RFC 9110 allows in a token.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0 {
			continue
		}
		return false
	}
	return s != ""
}

// names are common headers, in canonical form and in lower case, that are returned without allocation.
var names = spellings("Content-Type", "Content-Length", "Date", "Mcp-Session-Id", "Cache-Control", "Connection", "Keep-Alive",
	"Transfer-Encoding", "Vary", "Server", "X-Content-Type-Options", "X-Powered-By", "Mcp-Protocol-Version", "Retry-After", "Etag")

func spellings(known ...string) map[string]string {
	all := make(map[string]string, 2*len(known))
	for _, name := range known {
		all[name], all[strings.ToLower(name)] = name, name
	}
	return all
}

// common are header values that are returned without allocation.
var common = func() map[string]string {
	all := map[string]string{}
	for _, value := range []string{"application/json", "application/json; charset=utf-8", "text/event-stream", "keep-alive", "close", "chunked",
		"no-cache", "no-cache, no-transform", "nosniff", "timeout=5"} {
		all[value] = value
	}
	return all
}()
