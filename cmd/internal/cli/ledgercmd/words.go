package ledgercmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
)

// Layouts of times for people, which are local and have the zone. JSON has times in UTC.
const (
	dateLayout   = "2006-01-02 15:04:05 -07:00"
	milliLayout  = "2006-01-02 15:04:05.000 -07:00"
	microLayout  = "2006-01-02 15:04:05.000000 -07:00"
	minuteLayout = "2006-01-02 15:04 -07:00"
)

// LocalTime returns a time for people: local, with the zone, to the second.
func LocalTime(t time.Time) string { return t.Local().Format(dateLayout) }

// maxMessage is the number of runes of a message that a line shows.
const maxMessage = 100

// entryWords describes an entry in one line.
func entryWords(r *ledger.Record, p term.Colors) string {
	words := []string{p.Faint(r.Time.Local().Format(milliLayout)), kindWord(r, p)}
	add := func(word string) {
		if word != "" {
			words = append(words, term.Printable(word))
		}
	}
	add(r.Code)
	if !isInternal(r.Kind) {
		words = append(words, p.Name(term.Printable(r.Server())))
	}
	add(cmp.Or(r.Tool, method(r)))
	add(r.Ref)
	if message := failures.MessageOf(r); message != "" {
		words = append(words, p.Faint(term.Truncate(term.Printable(term.OneLine(message)), maxMessage)))
	}
	return strings.Join(append(words, p.Faint(fmt.Sprintf("%s/%d", r.Chain, r.Seq))), "  ")
}

func kindWord(r *ledger.Record, p term.Colors) string {
	word := term.Pad(string(r.Kind), len("checkpoint"))
	switch r.Kind {
	case ledger.KindFailure:
		if r.Outcome == ledger.OutcomeSuspected {
			return p.Warn(term.Pad("suspected", len("checkpoint")))
		}
		return p.Bad(word)
	case ledger.KindRecovered:
		return p.Warn(word)
	default:
		return word
	}
}

// method returns the JSON-RPC method of a failure, or "".
func method(r *ledger.Record) string {
	var data struct{ Method string }
	if r.Kind != ledger.KindFailure || json.Unmarshal(r.Data, &data) != nil {
		return ""
	}
	return data.Method
}

// localHour returns the UTC hour of a bucket in local time, or the text unchanged if it is not an hour.
func localHour(name string) string {
	t, err := time.Parse("2006-01-02T15:04Z", name)
	if err != nil {
		return name
	}
	return t.Local().Format(minuteLayout)
}
