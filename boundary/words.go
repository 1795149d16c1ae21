package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/wire"
)

// withWords adds the text that the author of a handler wrapped around a known error to its public message: "loading profile: The file
// does not exist." The text of the wrapped error describes the machine and is omitted. See docs/decisions/008.
func (b *Boundary) withWords(e *candor.Error, err error) *candor.Error {
	if b.o.HideErrorText || len(err.Error()) > maxErrorText {
		return e
	}
	var w words
	text := strings.ReplaceAll(w.of(err), "\n", "; ") // errors.Join writes lines
	if len(w.own) == 0 && !w.named || !w.safe(err) {
		return e
	}
	return e.With(candor.WithMessage(text))
}

// words collects the texts that an author wrapped around other errors with fmt.Errorf and errors.Join.
type words struct {
	own   []string
	named bool // a sentence names the file or host that an error is about
}

// of returns the text of an error in which known errors are replaced by their public messages.
func (w *words) of(err error) string {
	inner := wrapped(err)
	if len(inner) == 0 {
		return w.leaf(err)
	}
	text := err.Error()
	own := text
	for _, one := range inner {
		if quoted := one.Error(); quoted != "" {
			text = strings.ReplaceAll(text, quoted, w.of(one))
			own = strings.ReplaceAll(own, quoted, "\x00")
		}
	}
	for part := range strings.SplitSeq(own, "\x00") {
		w.add(part)
	}
	return text
}

// wrapped returns the errors that fmt.Errorf or errors.Join wrapped in err, or nil for an error of any other type.
func wrapped(err error) []error {
	switch fmt.Sprintf("%T", err) {
	case "*fmt.wrapError":
		return []error{errors.Unwrap(err)}
	case "*fmt.wrapErrors", "*errors.joinError":
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			return many.Unwrap()
		}
	}
	return nil
}

// leaf returns the text for an error that wraps no other: its public message, or its own text if its code is unknown.
func (w *words) leaf(err error) string {
	if said := naming(err); said != "" {
		w.named = true
		return said
	}
	if candor.KnownCode(err).Valid() || isSystems(err) {
		return candor.From(err).Message()
	}
	return w.add(err.Error())
}

// naming returns a sentence for an error of the system with the file or host that it is about. It returns "" for an absolute path, which
// describes the machine, and for other errors.
func naming(err error) string {
	if host, ok := errors.AsType[*net.DNSError](err); ok && host.Name != "" {
		return "The host " + host.Name + " could not be found."
	}
	file, ok := errors.AsType[*fs.PathError](err)
	if !ok || file.Path == "" || filepath.IsAbs(file.Path) || strings.HasPrefix(file.Path, "/") {
		return ""
	}
	switch candor.KnownCode(err) {
	case kaiza.FileNotFound:
		return file.Path + " does not exist."
	case kaiza.FileAlreadyExists:
		return file.Path + " already exists."
	case kaiza.InsufficientPermissions:
		return "There is no permission to use " + file.Path + "."
	case kaiza.InvalidPath:
		return file.Path + " is not a path that can be used here."
	default:
		return ""
	}
}

// add records a text of the author that contains a letter, and returns it.
func (w *words) add(text string) string {
	if strings.ContainsFunc(text, unicode.IsLetter) {
		w.own = append(w.own, text)
	}
	return text
}

// safe reports whether each text of the author, redacted alone, also occurs in the redacted whole. If not, a secret may span the
// author's text and the error that was replaced.
func (w *words) safe(err error) bool {
	whole := redact.Text(err.Error())
	for _, text := range w.own {
		if !strings.Contains(whole, strings.TrimSpace(redact.Text(text))) {
			return false
		}
	}
	return true
}

// inferred caches the interpretation of texts. Servers often repeat the same texts, and interpreting one takes much longer than all
// other steps. The rules are pure, so the same text always has the same result.
var inferred inferredTexts

const (
	maxInferred = 512 // texts
	maxPhrase   = 512 // maximum size of a cached text in bytes
)

// inferredTexts is a cache that is cleared when it is full.
type inferredTexts struct {
	mu    sync.Mutex
	known map[string]*candor.Error // a nil value means that the text gives no code
}

// read returns the error for a text, or nil if the text gives no code.
func (t *inferredTexts) read(text string) *candor.Error {
	t.mu.Lock()
	e, ok := t.known[text]
	t.mu.Unlock()
	if ok {
		return e
	}
	e = inferText(text)
	if len(text) > maxPhrase {
		return e
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= maxInferred {
		t.known = make(map[string]*candor.Error, maxInferred)
	}
	t.known[text] = e
	return e
}

// inferText interprets a text by the rules for texts of any server. A code in a text is marked as inferred, because the text may
// quote another party. For the same reason the tool and the session in a text are ignored.
func inferText(text string) *candor.Error {
	e := readText(text)
	if e == nil || e.Code() == candor.CodeUnknownToolFailure {
		return nil
	}
	return e.With(candor.WithOrigin(e.Origin().By, true), candor.WithCallInfo(candor.CallInfo{}))
}

// maxSuspect is the maximum size of a result that is checked, because texts that report a failure are short.
const maxSuspect = 256 << 10

// suspect records and counts a successful result that looks like a failure. The result is sent unchanged, because a tool may return
// data about errors.
func (c toolCall) suspect(ctx context.Context, result *mcp.CallToolResult, size int) {
	if !c.g.b.o.Suspected || size > maxSuspect {
		return
	}
	var raw []byte
	if c.raw != nil {
		raw = *c.raw
	} else if encoded, err := json.Marshal(result); err == nil {
		raw = encoded
	}
	if len(raw) > maxSuspect {
		return
	}
	x := c.exchange()
	params := append(append([]byte(`{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":`), quoted(x.tool)...), `,"arguments":`...)
	if params = append(params, x.params...); len(x.params) == 0 {
		params = append(params, "{}"...)
	}
	lenient := wire.Limits{AllowLoneSurrogates: true}
	request := wire.Parse(append(params, "}}"...), lenient)
	asked := contract.Exchange{Request: &request, Response: wire.Parse(resultMessage([]byte("0"), raw), lenient)}
	if found := contract.Classify(&asked); found.Certainty == contract.Suspected && found.Verdict == contract.VerdictMasked {
		c.g.b.suppress(ctx, contract.Interpret(&asked, found), found.Verdict, x)
	}
}
