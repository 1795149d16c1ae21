package drive

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/probe"
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
	if len(a.message) == 0 {
		return
	}
	if a.tail != nil {
		s.answers = append(s.answers, shorten([]byte(d.mask.overCut(string(a.message))), a.size, room))
		return
	}
	message := []byte(d.literal(string(a.message)))
	if len(message) > room {
		message = abridge(message)
	}
	s.answers = append(s.answers, shorten(message, int64(len(message)), room))
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
func (s *seen) hear(line string) {
	if len(s.noise) < keptNoise {
		s.noise = append(s.noise, shorten([]byte(line), int64(len(line)), keptNoiseLine))
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

// abridge cuts the long texts in a message, so that what is kept of it is still a message: whether it failed may stand at its end.
func abridge(message []byte) []byte {
	var out []byte
	for i := 0; i < len(message); i++ {
		out = append(out, message[i])
		if message[i] != '"' {
			continue
		}
		keep, end := span(message[i+1:])
		text := message[i+1:][:end]
		out = append(out, text[:keep]...)
		if keep < end {
			out = fmt.Appendf(out, "…[%d bytes]", end)
		}
		if i += end + 1; i < len(message) {
			out = append(out, '"')
		}
	}
	return out
}

// span returns where the text ends that begins here, in a message, and how much of it is kept: it is never cut inside of a character.
func span(text []byte) (keep, end int) {
	keep = -1
	for end < len(text) && text[end] != '"' {
		step := 1
		if text[end] == '\\' {
			step = 2
		}
		if text[end] == '\\' && end+1 < len(text) && text[end+1] == 'u' {
			step = len(`\u0000`)
		}
		half := step == len(`\u0000`) && end+3 < len(text) && text[end+2]|0x20 == 'd' && strings.ContainsRune("89abAB", rune(text[end+3]))
		end = min(end+step, len(text))
		if keep < 0 && end >= keptText && !half && (end == len(text) || utf8.RuneStart(text[end])) {
			keep = end
		}
	}
	if keep < 0 {
		keep = end
	}
	return keep, end
}

// literal is a text as it came, but for what the [mask] hides. It comes before any cut, which would leave half of a secret.
func (d *driver) literal(text string) string { return d.mask.over(text) }

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
