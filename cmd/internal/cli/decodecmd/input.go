package decodecmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// source is one input: standard input or a named file.
type source struct {
	name string // "" is standard input
	open func() (io.ReadCloser, error)
}

// openSources returns the inputs for file arguments. Without arguments, or for "-", it is standard input; at a terminal it prints a notice.
func openSources(env *term.Env, cmd *cobra.Command, files []string) []source {
	if env.Interactive && (len(files) == 0 || slices.Contains(files, "-")) {
		env.Notify(cmd, "reading standard input, one JSON value per line", "end the input with Ctrl-D")
	}
	stdin := source{open: func() (io.ReadCloser, error) { return io.NopCloser(env.In), nil }}
	if len(files) == 0 {
		return []source{stdin}
	}
	var out []source
	for _, name := range files {
		if name == "-" {
			out = append(out, stdin)
			continue
		}
		out = append(out, source{name: name, open: func() (io.ReadCloser, error) { return os.Open(name) }})
	}
	return out
}

// at returns a position in the input: "line 7", or "answers.jsonl: line 7".
func (s source) at(number int) string {
	if s.name == "" {
		return fmt.Sprintf("line %d", number)
	}
	return fmt.Sprintf("%s: line %d", s.name, number)
}

// maxLine bounds one line.
const maxLine = 16 << 20

// line is one line of input.
type line struct {
	bytes   []byte // without the line end and a byte order mark at the beginning of the input; valid until the next line
	number  int    // from 1, blank lines included
	tooLong bool   // bytes is only its beginning
}

// eachLine calls do with each line that is not blank, until do returns an error. unreadable reports whether the error is one of reading.
func (s source) eachLine(do func(line) error) (unreadable bool, err error) {
	in, err := s.open()
	if err != nil {
		return true, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	lines := framing.NewLineReader(in, wire.Limits{MaxBytes: maxLine})
	for {
		next, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return true, err
		}
		l := line{bytes: next.Bytes, number: next.Number, tooLong: next.Flaw != wireflaw.None}
		if l.tooLong {
			l.bytes = next.Head
		}
		if l.number == 1 {
			l.bytes = bytes.TrimPrefix(l.bytes, []byte("\ufeff")) // byte order mark
		}
		if len(l.bytes) == 0 {
			continue
		}
		if err := do(l); err != nil {
			return false, err
		}
	}
}

// whyNotJSON describes why text is not JSON, with a hint. It never quotes the text.
func whyNotJSON(err error, text []byte) (why, hint string) {
	hint = "give one JSON value per line"
	if len(text) > 1 && (text[0] == 0xff && text[1] == 0xfe || text[0] == 0xfe && text[1] == 0xff) {
		return "not JSON: the text is UTF-16", "save it as UTF-8"
	}
	if errors.Is(err, errNoResponse) {
		return err.Error(), "write \"response\":null if there was no response"
	}
	var flaw wire.Malformation
	if !errors.As(err, &flaw) {
		return err.Error(), "give a JSON-RPC response, or {\"request\":…,\"response\":…}"
	}
	switch flaw.Flaw {
	case wireflaw.TooLarge:
		return fmt.Sprintf("longer than %d MiB", maxLine>>20), "split it into smaller values"
	case wireflaw.Truncated:
		hint = "put each value on one line, for example with jq -c ."
	case wireflaw.TrailingData:
		return fmt.Sprintf("more than one value: %s at byte %d", flaw.Flaw.Reason(), flaw.Offset), hint
	case wireflaw.BOM, wireflaw.TooDeep, wireflaw.ControlCharacter, wireflaw.BadUTF8, wireflaw.LoneSurrogate, wireflaw.DuplicateKey:
		return fmt.Sprintf("not valid JSON: %s at byte %d", flaw.Flaw.Reason(), flaw.Offset), "JSON parsers disagree about such a value, so it is rejected"
	default:
	}
	return fmt.Sprintf("not JSON: %s at byte %d", flaw.Flaw.Reason(), flaw.Offset), hint
}
