package patch

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Apply returns the content of the file after the patch. old is empty if the patch creates the file; the result is nil
// if the patch deletes it. Every line that the patch expects must be at the line number that the patch gives. The error
// is PATCH_APPLY_FAILED; it contains hunk and line numbers but no content. Apply does not modify old, and the caller
// owns the result.
func (f File) Apply(old []byte) ([]byte, error) {
	if len(old) > MaxResult {
		return nil, f.failed(nil, "it is larger than %d MiB", MaxResult>>20)
	}
	if f.Kind == Create && len(old) > 0 {
		return nil, f.failed(nil, "the patch creates it, and it is there")
	}
	var out bytes.Buffer
	applier := gitdiff.NewTextApplier(&out, bytes.NewReader(old))
	for i, h := range f.hunks {
		if err := applier.ApplyFragment(h); err != nil {
			return nil, f.explain(old, i, err)
		}
	}
	if err := applier.Close(); err != nil {
		return nil, f.failed(nil, "the rest of it cannot be copied")
	}
	if err := f.checkResult(old, out.Len()); err != nil {
		return nil, err
	}
	if f.Kind == Delete {
		return nil, nil
	}
	return out.Bytes(), nil
}

// checkResult checks the result as a whole.
func (f File) checkResult(old []byte, size int) error {
	switch {
	case f.Kind == Delete && size > 0:
		return f.failed(map[string]any{"actual_lines": lines(old), "expected_lines": f.Removed}, "the patch deletes %d lines, and it has %d", f.Removed, lines(old))
	case size > MaxResult:
		return f.failed(nil, "it would become larger than %d MiB", MaxResult>>20)
	}
	if f.ends && len(f.hunks) > 0 {
		last := f.hunks[len(f.hunks)-1]
		if end := max(last.OldPosition-1, 0) + last.OldLines; int(end) < lines(old) {
			return f.failed(map[string]any{"hunk": len(f.hunks), "line": end + 1, "actual_lines": lines(old), "expected_lines": end},
				"hunk %d is said to end it at line %d, and it has %d lines", len(f.hunks), end, lines(old))
		}
	}
	return nil
}

// explain returns the error for a hunk that does not fit. If the lines of the hunk are elsewhere in the file, the error
// gives their line number.
func (f File) explain(old []byte, at int, err error) error {
	h := f.hunks[at]
	line := h.OldPosition
	if where, ok := errors.AsType[*gitdiff.ApplyError](err); ok && where.Line > 0 {
		line = where.Line
	}
	details := map[string]any{"hunk": at + 1, "line": line, "expected_line": h.OldPosition, "actual_lines": lines(old)}
	var want strings.Builder
	for _, l := range h.Lines {
		if l.Old() {
			want.WriteString(l.Line)
		}
	}
	found := lineOf(old, want.String())
	switch {
	case found > 0 && int64(found) != h.OldPosition:
		details["actual_line"] = found
		return f.failed(details, "hunk %d says line %d, but its lines are at line %d", at+1, h.OldPosition, found)
	case int(line) > lines(old):
		return f.failed(details, "hunk %d needs line %d, and it has %d lines", at+1, line, lines(old))
	}
	return f.failed(details, "hunk %d does not match at line %d", at+1, line)
}

// lineOf returns the line number of a sequence of lines, or 0.
func lineOf(text []byte, want string) int {
	if want == "" {
		return 0
	}
	at := strings.Index("\n"+string(text), "\n"+want)
	if at < 0 {
		return 0
	}
	return lines(text[:at]) + 1
}

// lines counts the lines of a text; the last line may lack a line end.
func lines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

func (f File) failed(details map[string]any, format string, args ...any) error {
	all := map[string]any{"file": f.Name()}
	for k, v := range details {
		all[k] = v
	}
	return candor.New(kaiza.PatchApplyFailed, "The patch does not fit the file: "+fmt.Sprintf(format, args...)+".", candor.WithDetails(all))
}
