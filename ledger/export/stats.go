package export

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/candor-mcp/candor/internal/repeated"
	"github.com/candor-mcp/candor/ledger"
)

// The dimensions: the property by which failures are counted.
const (
	byCode   = "code"
	byTool   = "tool"
	byServer = "server" // see [ledger.Record.Server]
	byDomain = "domain"
	byClass  = "class"
	byHour   = "hour"
)

// Dimensions returns all dimensions.
func Dimensions() []string {
	return []string{byCode, byTool, byServer, byDomain, byClass, byHour}
}

// maxBuckets limits the memory of a count. Names beyond the limit are counted as "other".
const maxBuckets = 10000

// Stats is the result of [Count].
type Stats struct {
	By       string `json:"by"`
	Entries  uint64 `json:"entries"`  // of any kind
	Failures uint64 `json:"failures"` // of kind failure, each counted once
	// Suspected is how many of the failures only look like one and were passed on as successes.
	Suspected uint64                `json:"suspected"`
	Skipped   uint64                `json:"skipped"` // malformed lines
	Begin     time.Time             `json:"begin,omitzero"`
	End       time.Time             `json:"end,omitzero"`
	Kinds     map[ledger.Kind]int64 `json:"kinds"`
	Buckets   []Bucket              `json:"buckets"` // largest count first; hours in order of time
}

// Bucket is the number of failures with one name.
type Bucket struct {
	Name  string `json:"name"`
	Count uint64 `json:"count"`
}

// Count counts the failures of a ledger by one of [Dimensions]. options.Keep and options.Since select the entries to read. A failure that
// a gateway in front of the server recorded too is counted once, as the gateway's; see data.upstream_ref in spec/ledger.md.
func Count(ctx context.Context, r *ledger.Reader, by string, options ledger.ReadOptions) (Stats, error) {
	stats := Stats{By: by, Kinds: map[ledger.Kind]int64{}, Buckets: []Bucket{}}
	options.Follow, options.Last = false, 0
	options.Skipped = func(string, int64) { stats.Skipped++ }
	counts := map[string]uint64{}
	again, err := repeated.Find(ctx, r, options.Since)
	if err != nil {
		return stats, err
	}
	for l, err := range r.Entries(ctx, options) {
		if err != nil {
			return stats, err
		}
		stats.add(l)
		if l.Kind == ledger.KindFailure && !again(l) {
			stats.Failures++
			if member(l, "outcome") == string(ledger.OutcomeSuspected) {
				stats.Suspected++
			}
			name := bucketOf(l, by)
			if _, known := counts[name]; !known && len(counts) >= maxBuckets {
				name = "other"
			}
			counts[name]++
		}
	}
	for name, n := range counts {
		stats.Buckets = append(stats.Buckets, Bucket{name, n})
	}
	slices.SortFunc(stats.Buckets, func(a, b Bucket) int {
		if by != byHour && a.Count != b.Count {
			return cmp.Compare(b.Count, a.Count)
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return stats, ctx.Err()
}

func (s *Stats) add(l *ledger.Line) {
	s.Entries++
	s.Kinds[l.Kind]++
	if s.Begin.IsZero() {
		s.Begin = l.Time
	}
	s.End = l.Time
}

// bucketOf returns the bucket of a line. It reads one member without decoding the others.
func bucketOf(l *ledger.Line, by string) string {
	name := ""
	switch by {
	case byHour:
		name = l.Time.Format("2006-01-02T15:00Z")
	case byServer:
		name = l.Server()
	default:
		name = member(l, string(by))
	}
	if name == "" {
		return "none"
	}
	return name
}

// member returns the value of a top-level string member after kind, or "". Members are in a fixed order, and those
// with free text follow the ones that are looked up here. The first match is therefore the member itself: an earlier
// label cannot imitate it, because a quote inside a label is escaped.
func member(l *ledger.Line, name string) string {
	_, rest, ok := bytes.Cut(l.Raw(), []byte(`,"`+name+`":"`))
	if !ok {
		return ""
	}
	end := 0
	for end < len(rest) && rest[end] != '"' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(rest) {
		return ""
	}
	text, err := strconv.Unquote(fmt.Sprintf(`"%s"`, rest[:end]))
	if err != nil {
		record, err := l.Record()
		if err != nil {
			return ""
		}
		return map[string]string{"tool": record.Tool, "code": record.Code, "domain": record.Domain, "class": string(record.Class)}[name]
	}
	return text
}
