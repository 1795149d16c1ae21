package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"path"
	"runtime"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/redactjson"
	"github.com/candor-mcp/candor/wire"
)

// The content that the author of a tool put into a failure is kept, but secrets and invisible or control characters are removed. A
// text is redacted before it is truncated, because a part of a secret cannot be recognised.

// redactedBlock returns a content block with redacted texts. Images and audio are not changed.
func redactedBlock(block mcp.Content) mcp.Content {
	switch b := block.(type) {
	case rawBlock:
		b.raw = redactedJSON(b.raw)
		return b
	case *mcp.TextContent:
		if b == nil {
			break
		}
		if clean := redactedText(b.Text); clean != b.Text {
			out := *b
			out.Text = clean
			return &out
		}
	case *mcp.EmbeddedResource:
		if b == nil || b.Resource == nil {
			break
		}
		out, resource := *b, *b.Resource
		resource.URI, resource.Text = contract.Redact(resource.URI), redactedText(resource.Text)
		out.Resource = &resource
		return &out
	case *mcp.ResourceLink:
		if b == nil {
			break
		}
		out := *b
		for _, text := range []*string{&out.URI, &out.Name, &out.Title, &out.Description} {
			*text = contract.Redact(*text)
		}
		return &out
	}
	return block
}

// redactedValue returns a value as redacted JSON, or v itself if redaction changes nothing. It returns nil for a value that cannot be
// encoded.
func redactedValue(v any) any {
	if v == nil {
		return nil
	}
	raw, err := encodeValue(v)
	if err != nil {
		return nil
	}
	clean := redactedJSON(raw)
	if bytes.Equal(clean, raw) {
		return v
	}
	return json.RawMessage(clean)
}

// redactedJSON returns JSON with redacted strings and member names. It returns raw itself if redaction changes nothing.
func redactedJSON(raw []byte) []byte { return redactedWith(redactjson.Cleaner{}, raw) }

// redactedURI is redactedJSON for data that names a missing resource. It keeps paths, because the client sent them.
func redactedURI(raw []byte) []byte {
	return redactedWith(redactjson.Cleaner{Policy: redact.Policy{KeepPaths: true}}, raw)
}

func redactedWith(c redactjson.Cleaner, raw []byte) []byte {
	if len(raw) == 0 {
		return raw
	}
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		return redactedLoose(c, raw)
	}
	clean, changed := c.Append(nil, v)
	if !changed {
		return raw
	}
	return clean
}

// redactedLoose is redactedWith for JSON that package wire rejects, such as an object with duplicate member names: it is redacted as
// text, which keeps the order of members. Invalid JSON is left to the reader.
func redactedLoose(c redactjson.Cleaner, raw []byte) []byte {
	if clean := []byte(c.Policy.Text(string(raw))); json.Valid(clean) || !json.Valid(raw) {
		return clean
	}
	return []byte("null")
}

// redactedText is contract.Redact for a text that may contain JSON.
func redactedText(text string) string { return redactjson.Cleaner{}.Text(text) }

// A stack is always written to the ledger and the log. The dialects write it only if [Options.Stack] allows it.

const maxFrames = 64

// panicStack returns the stack of a panic, without the frames of the boundary and the SDK. Call it in the deferred function that has
// recovered the panic.
func panicStack() string {
	var pcs [maxFrames]uintptr
	return candor.StackPolicy{Debug: true}.Frames(pcs[:runtime.Callers(3, pcs[:])])
}

// withFound adds the stack of a panic to an error that has none.
func withFound(e *candor.Error, stack string) *candor.Error {
	if stack == "" || e.Stack() != "" {
		return e
	}
	return e.With(candor.WithStack(stack))
}

// withStack adds the current stack to an error that has none, if Options.Stack.Debug is set. The handler has returned by then, so
// most frames are those of the boundary and the SDK.
func (b *Boundary) withStack(e *candor.Error) *candor.Error {
	if !b.o.Stack.Debug || e.Stack() != "" || b.o.Dialect.Carrier() == dialect.CarrierRPCError {
		return e
	}
	var pcs [maxFrames]uintptr
	found := pcs[:runtime.Callers(2, pcs[:])]
	stack := b.o.Stack.Frames(found)
	if stack == "" {
		stack = allFrames(found)
	}
	return e.With(candor.WithStack(stack))
}

// allFrames formats all frames as [candor.StackPolicy.Frames] does, without omitting any.
func allFrames(pcs []uintptr) string {
	var lines []string
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" {
			lines = append(lines, path.Base(f.Function)+" ("+path.Base(f.File)+":"+strconv.Itoa(f.Line)+")")
		}
		if !more {
			return strings.Join(lines, "\n")
		}
	}
}

// logStack logs a failure that has a stack, such as a panic.
func (b *Boundary) logStack(ctx context.Context, e *candor.Error) {
	if e.Stack() == "" {
		return
	}
	b.o.Logger.ErrorContext(ctx, "call failed with a stack", slog.String("code", e.Code().String()), slog.String("tool", e.CallInfo().Tool),
		slog.String("ref", e.Ref()), slog.String("cause", e.Cause().Message), slog.String("stack", e.Stack()))
}
