package framing

import "bytes"

const (
	// keepIgnored is the size of an event up to which its comments and unknown fields are kept.
	keepIgnored = 64 << 10
	// undecided is more than the bytes at the end of a buffer of which it is not known yet whether
	// they belong to a line that is dropped.
	undecided = 16
)

// ignoredLines counts what was dropped of the current event: lines that have no meaning by the
// standard, which are comments and fields with an unknown name.
type ignoredLines struct {
	dropped int64
	checked int  // unread bytes before checked hold no such line
	midLine bool // the unread bytes begin inside a line that is not one
}

func (r *EventReader) keepIgnored() int64 { return int64(min(keepIgnored, r.max)) }

// dropIgnored removes such lines from the unread bytes of an event that is large. Of one that has
// not ended it leaves a colon, so that the rest of it is still a comment.
func (r *EventReader) dropIgnored() {
	b := r.in.unread()
	if !r.over.active && r.ignore.dropped+int64(len(b)) <= r.keepIgnored() || r.line < 0 {
		return
	}
	line := r.compact(b, r.line)
	partial := b[r.line:r.pos]
	switch {
	case len(partial) > 1 && isIgnored(partial, false):
		r.ignore.dropped += int64(len(partial)) - 1
		b[line] = ':'
		r.in.w = r.in.r + line + 1 + copy(b[line+1:], b[r.pos:])
		r.pos = line + 1
	case line < r.line:
		r.in.w = r.in.r + line + copy(b[line:], b[r.line:])
		r.pos -= r.line - line
	}
	r.line = line
}

// compact removes the lines of b[:end], which are whole, and returns the new end.
func (r *EventReader) compact(b []byte, end int) int {
	from := r.ignore.checked
	switch {
	case from > 0 || end == 0:
	case r.ignore.midLine:
		_, from = cutLine(b[:end])
	case !r.over.active:
		from = r.lead
	}
	to := min(from, end)
	for from < end {
		line, n := cutLine(b[from:end])
		if isIgnored(line, true) {
			r.ignore.dropped += int64(n)
		} else {
			to += copy(b[to:], b[from:from+n])
		}
		from += n
	}
	r.ignore.checked = to
	return to
}

// isIgnored reports a comment or a field with an unknown name. If the line is not whole and may
// still become a known field it is not.
func isIgnored(line []byte, whole bool) bool {
	if len(line) == 0 {
		return false
	}
	for _, name := range [...]string{"data", "event", "id", "retry"} {
		rest, has := bytes.CutPrefix(line, []byte(name))
		if has && (len(rest) == 0 || rest[0] == ':') || !whole && bytes.HasPrefix([]byte(name), line) {
			return false
		}
	}
	return true
}

// isField reports whether a line begins with a known field name.
func isField(line []byte) bool {
	name, _, colon := bytes.Cut(line[:min(len(line), len("event:"))], []byte(":"))
	return colon && len(name) > 0 && !isIgnored(name, true)
}
