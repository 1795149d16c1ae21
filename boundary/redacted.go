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

// What the author of a tool wrote into a failure is kept, but not its secrets, nor the characters that hide or steer: an error is
// where those slip out. A text is redacted as a whole before anybody cuts it, because half a secret is not known any more.

// redactedBlock returns a content block whose texts are clean. Pictures and sounds pass.
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

// redactedValue returns a value as clean JSON, or itself if it is clean already. What cannot be written is dropped.
func redactedValue(v any) any {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	clean := redactedJSON(raw)
	if bytes.Equal(clean, raw) {
		return v
	}
	return json.RawMessage(clean)
}

// redactedJSON returns JSON whose texts and names are clean: the same bytes if they were.
func redactedJSON(raw []byte) []byte {
	if len(raw) == 0 {
		return raw
	}
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		return redactedLoose(raw)
	}
	clean, changed := redactjson.Cleaner{}.Append(nil, v)
	if !changed {
		return raw
	}
	return clean
}

// redactedURI is redactedJSON for data that names a missing resource: its path is what the client has asked for, and stays.
func redactedURI(raw []byte) []byte {
	v, err := wire.ParseValue(raw, wire.Limits{})
	if err != nil {
		return redactedJSON(raw)
	}
	clean, changed := redactjson.Cleaner{Policy: redact.Policy{KeepPaths: true}}.Append(nil, v)
	if !changed {
		return raw
	}
	return clean
}

// redactedLoose is redactedJSON for JSON that wire refuses, such as an object with two members of one name: the last of them
// counts, as it does for encoding/json.
func redactedLoose(raw []byte) []byte {
	var decoded any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&decoded) != nil {
		return raw // the reader of it will find the same
	}
	again, err := json.Marshal(decoded)
	if err != nil {
		return raw
	}
	v, err := wire.ParseValue(again, wire.Limits{})
	if err != nil {
		return []byte("null") // deeper or longer than any message may be
	}
	clean, _ := redactjson.Cleaner{}.Append(nil, v)
	return clean
}

// redactedText is contract.Redact for a text that may hold JSON.
func redactedText(text string) string { return redactjson.Cleaner{}.Text(text) }

// A stack always goes to the ledger and the log; the dialects write it only if [Options.Stack] says so.

const maxFrames = 64

// panicStack returns the stack of a panic, without the frames of the harness. Call it in the deferred function that has recovered.
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

// withStack adds a stack to a failure that has none, for DEBUG_STACK: where the boundary has found it. The handler has returned by then, so
// these are mostly frames of the harness.
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

// allFrames formats frames as [candor.StackPolicy.Frames] does, those of the harness included.
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
