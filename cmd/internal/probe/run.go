package probe

import (
	"time"
)

// Outcome is what became of a case on the wire.
type Outcome string

// The outcomes.
const (
	OutcomeAnswered Outcome = "answered"
	OutcomeNoAnswer Outcome = "no_answer" // none was sent, and the server is alive
	OutcomeHang     Outcome = "hang"      // none came by the deadline, and one was due
	OutcomeCrash    Outcome = "crash"     // the server ended
)

// Observation is a case and what was seen of it. All of it is as received but for secrets of our own, which were dummies.
type Observation struct {
	Case     Case    `json:"case"`
	Request  string  `json:"request"`            // as sent
	Response string  `json:"response,omitempty"` // as received; "" without an answer
	Outcome  Outcome `json:"outcome"`

	Size   int64  `json:"size,omitempty"`   // of the answer in bytes, if Response holds only the beginning of it
	Broken string `json:"broken,omitempty"` // how the connection broke, over HTTP: as in connection reset

	Status     int      `json:"status,omitempty"`      // of HTTP
	RetryAfter string   `json:"retry_after,omitempty"` // the header of the answer
	Noise      []string `json:"noise,omitempty"`       // lines on standard output that are no messages, bounded
	Stderr     string   `json:"stderr,omitempty"`      // what it printed meanwhile, bounded
	Exit       string   `json:"exit,omitempty"`        // how it ended, if it did
	Hits       int      `json:"hits,omitempty"`        // requests that the fake upstream got
	Extra      int      `json:"extra,omitempty"`       // answers to what had been answered already
	Notices    int      `json:"notices,omitempty"`     // notifications that came meanwhile
	Kept       bool     `json:"kept,omitempty"`        // a call was called off, and answered long after the server had read that
	Millis     int64    `json:"ms"`                    // how long it took; no rule may depend on it but through the outcome
}

// Server is who was driven.
type Server struct {
	Name         string   `json:"name"`
	Version      string   `json:"version,omitempty"`
	Protocol     string   `json:"protocol"`
	Transport    string   `json:"transport"` // stdio, http, sse
	Target       string   `json:"target"`    // command line or address, without secrets
	Capabilities []string `json:"capabilities,omitempty"`
	Extension    bool     `json:"extension,omitempty"` // it announces dev.candor/errors
}

// Skip is something that was not done, and why.
type Skip struct {
	Tool   string `json:"tool,omitempty"`
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// Run is a server put through all cases. It can be kept, and judged again.
type Run struct {
	Version      int           `json:"version"` // 1
	Begun        time.Time     `json:"begun"`
	Seed         uint64        `json:"seed"`
	Server       Server        `json:"server"`
	Greeting     Observation   `json:"greeting,omitzero"` // initialize or server/discover: its Noise is what is printed at the start
	Tools        []Tool        `json:"tools"`
	Skipped      []Skip        `json:"skipped,omitempty"`
	Observations []Observation `json:"observations"`
	Restarts     int           `json:"restarts,omitempty"`   // of a server that died or hung
	Incomplete   string        `json:"incomplete,omitempty"` // why it ended early
}

// GivenSecret stands in a run for a secret that the server was given, in a header or in its environment, wherever an answer holds it.
// A value that is there by chance, because it is a short or ordinary word, is no such secret.
const GivenSecret = "[redacted:given]"

// RunVersion is the version of the form in which a run is kept.
const RunVersion = 1

// Tool returns a tool of the run by its name, nil if there is none.
func (r *Run) Tool(name string) *Tool {
	for i := range r.Tools {
		if r.Tools[i].Name == name {
			return &r.Tools[i]
		}
	}
	return nil
}
