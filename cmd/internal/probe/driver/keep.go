package driver

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/probe"
)

// keep records an answer that counts for count of the expected answers.
func (d *driver) keep(s *seen, a *mcpclient.Message, count int) {
	s.size += a.Size
	if a.Status > s.status { // keep the worst of several, because their order is random
		s.status, s.retry = a.Status, a.RetryAfter
	}
	if s.count += count; s.raw == nil {
		s.raw = a.Data
	}
	remaining := keptResponse
	for _, kept := range s.answers {
		remaining -= len(kept)
	}
	if len(a.Data) == 0 {
		return
	}
	if a.Tail != nil {
		s.answers = append(s.answers, shorten([]byte(d.mask.overCut(string(a.Data))), a.Size, remaining))
		return
	}
	message := []byte(d.mask.over(string(a.Data)))
	if len(message) > remaining {
		message = abridge(message)
	}
	s.answers = append(s.answers, shorten(message, int64(len(message)), remaining))
}

// response returns all answers, one per line, and their full size if that is larger. They are sorted, because the order of answers to
// concurrent requests is random.
func (s *seen) response() (text string, size int64) {
	if s.size > keptResponse {
		size = s.size
	}
	return strings.Join(slices.Sorted(slices.Values(s.answers)), "\n"), size
}

// hear records a line that is not a message.
func (s *seen) hear(line string) {
	if len(s.noise) < keptNoise {
		s.noise = append(s.noise, shorten([]byte(line), int64(len(line)), keptNoiseLine))
	}
}

// shorten returns the text as valid UTF-8, truncated to limit bytes with a mark.
func shorten(text []byte, size int64, limit int) string {
	limit = max(limit, 0)
	if size <= int64(limit) {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return fmt.Sprintf("%s…[%d bytes]", strings.ToValidUTF8(string(text[:min(limit, len(text))]), "\uFFFD"), size)
}

// abridge shortens the long texts in a message so that it stays valid: the members that mark a failure may be at its end.
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

// span returns the end of a JSON string that begins here, and how much of it is kept. It is never cut inside a character.
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

// withoutLarge returns a case without its large parts; the request of the observation shows their beginning.
func withoutLarge(c probe.Case) probe.Case {
	if len(c.Raw) > keptRequest {
		c.Raw = nil
	}
	if len(c.Params) > keptRequest {
		c.Params = nil
	}
	return c
}
