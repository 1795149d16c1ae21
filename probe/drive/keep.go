package drive

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/probe"
)

// keep notes an answer, which stands for so many of those that were waited for.
func (d *driver) keep(s *seen, a *arrival, count int) {
	s.size += a.size
	if a.status > s.status { // of several the worst: which came last is chance
		s.status, s.retry = a.status, a.retryAfter
	}
	if s.count += count; s.raw == nil {
		s.raw = a.message
	}
	room := keptResponse
	for _, kept := range s.answers {
		room -= len(kept)
	}
	if len(a.message) > 0 {
		s.answers = append(s.answers, d.literal(shorten(a.message, a.size, room)))
	}
}

// response returns all answers as one text, each on a line of its own, and its true size if that is larger. They are sorted, because
// in which order a server answers what came at once is chance.
func (s *seen) response() (text string, size int64) {
	if s.size > keptResponse {
		size = s.size
	}
	return strings.Join(slices.Sorted(slices.Values(s.answers)), "\n"), size
}

// hear notes a line that is no message.
func (s *seen) hear(line []byte) {
	if len(s.noise) < keptNoise {
		s.noise = append(s.noise, shorten(line, int64(len(line)), keptNoiseLine))
	}
}

// shorten makes a text of bytes and cuts it, and says so.
func shorten(text []byte, size int64, limit int) string {
	limit = max(limit, 0)
	if size <= int64(limit) {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return fmt.Sprintf("%s…[%d bytes]", strings.ToValidUTF8(string(text[:min(limit, len(text))]), "\uFFFD"), size)
}

// literal is a text as it came, but for two things: what the caller's headers hold, and the random part of the name of the scratch
// folder, without which the same server would not say the same twice.
func (d *driver) literal(text string) string { return d.mask.Replace(text) }

// masks returns what has to be replaced for this target and this child.
func masks(t Target, scratch string) *strings.Replacer {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(t.Headers)) {
		value := t.Headers[name]
		if _, bare, ok := strings.Cut(value, " "); ok { // as in Bearer …
			value = bare
		}
		if redact.Key(name) && len(value) >= 6 {
			pairs = append(pairs, value, redact.Placeholder)
		}
	}
	if name := filepath.Base(scratch); strings.HasPrefix(name, scratchPrefix) {
		pairs = append(pairs, name, scratchPrefix+"0")
	}
	return strings.NewReplacer(pairs...)
}

// light is a case without what makes a run heavy: the request shows the beginning of it.
func light(c probe.Case) probe.Case {
	if len(c.Raw) > keptRequest {
		c.Raw = nil
	}
	if len(c.Params) > keptRequest {
		c.Params = nil
	}
	return c
}
