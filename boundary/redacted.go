package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/redactjson"
	"github.com/candor-mcp/candor/internal/truncate"
	"github.com/candor-mcp/candor/wire"
)

// The content that the author of a tool put into a failure is kept, but secrets and invisible or control characters are
// removed. A text is redacted before it is shortened for a message, because a part of a secret cannot be recognised.

// redactedBlock returns a content block of a list with redacted texts. Images and audio are not changed.
func redactedBlock(block mcp.Content, list *redactjson.Sequence) mcp.Content {
	switch b := block.(type) {
	case *mcp.TextContent:
		if clean := redactedText(list.Next(b.Text)); clean != b.Text {
			out := *b
			out.Text = clean
			return &out
		}
	case *mcp.EmbeddedResource:
		if b.Resource == nil {
			break
		}
		out, resource := *b, *b.Resource
		resource.URI, resource.Text = redact.Text(resource.URI), redactedText(list.Next(resource.Text))
		out.Resource = &resource
		return &out
	case *mcp.ResourceLink:
		out := *b
		for _, text := range []*string{&out.URI, &out.Name, &out.Title, &out.Description} {
			*text = redact.Text(*text)
		}
		return &out
	}
	return block
}

// redactedValue returns a value as redacted JSON, or v itself if redaction changes nothing. It returns nil for a value
// that cannot be encoded.
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

// redactedLoose is redactedWith for JSON that package wire rejects, such as an object with duplicate member names: it
// is redacted as text, which keeps the order of members. Invalid JSON is left to the reader.
func redactedLoose(c redactjson.Cleaner, raw []byte) []byte {
	if clean := []byte(c.Policy.Text(string(raw))); json.Valid(clean) || !json.Valid(raw) {
		return clean
	}
	return []byte("null")
}

// maxErrorText is the maximum length of the texts of a failure. To redact 100 MB takes seconds, so longer ones are cut
// first.
const maxErrorText = 1 << 20

// redactedText redacts a text that may contain JSON.
func redactedText(text string) string { return redactjson.Cleaner{}.Text(text) }

// shortened returns a copy of a result with at most maxErrorText bytes in its texts, and without other values that are
// larger.
func shortened(result *mcp.CallToolResult) *mcp.CallToolResult {
	out, left := *result, maxErrorText
	cut := func(text string) string {
		text = truncate.Text(text, left)
		left -= len(text)
		return text
	}
	out.Content = slices.Clone(result.Content)
	for i, block := range out.Content {
		switch b := block.(type) {
		case *mcp.TextContent:
			short := *b
			short.Text, out.Content[i] = cut(b.Text), &short
		case *mcp.EmbeddedResource:
			if b.Resource != nil {
				short, resource := *b, *b.Resource
				resource.URI, resource.Text = cut(resource.URI), cut(resource.Text)
				short.Resource, out.Content[i] = &resource, &short
			}
		case *mcp.ResourceLink:
			short := *b
			for _, text := range []*string{&short.URI, &short.Name, &short.Title, &short.Description} {
				*text = cut(*text)
			}
			out.Content[i] = &short
		}
	}
	if isLarge(out.StructuredContent) {
		out.StructuredContent = nil
	}
	out.Meta = maps.Clone(result.Meta)
	maps.DeleteFunc(out.Meta, func(_ string, v any) bool { return isLarge(v) })
	return &out
}

// isLarge reports whether a value is longer than maxErrorText in JSON.
func isLarge(v any) bool {
	if v == nil {
		return false
	}
	raw, err := encodeValue(v)
	return err == nil && len(raw) > maxErrorText
}

// A stack is always written to the ledger and the log. The dialects write it only if [Options.Stack] allows it.

const maxFrames = 64

// panicStack returns the stack of a panic, without the frames of the boundary and the SDK. Call it in the deferred
// function that has recovered the panic.
func panicStack() string {
	var pcs [maxFrames]uintptr
	return candor.StackPolicy{Debug: true}.Frames(pcs[:runtime.Callers(3, pcs[:])])
}

// withStack adds the current stack to an error without one, if Options.Stack.Debug is set. The handler has returned by
// then, so most frames are those of the boundary and the SDK.
func (b *Boundary) withStack(e *candor.Error) *candor.Error {
	if !b.o.Stack.Debug || e.Stack() != "" || b.o.Dialect.Name() == "rpc" {
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
