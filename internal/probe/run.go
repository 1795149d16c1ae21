package probe

import (
	"encoding/json"
	"time"
)

// Outcome is the result of a case on the wire.
type Outcome string

// The outcomes.
const (
	OutcomeAnswered Outcome = "answered"
	OutcomeNoAnswer Outcome = "no_answer" // no answer, and the server is alive
	OutcomeHang     Outcome = "hang"      // no answer within the deadline, although one was required
	OutcomeCrash    Outcome = "crash"     // the server ended
)

// Observation is a case and the server's reaction. Texts are as received, except for given secrets and for length.
type Observation struct {
	Case     Case    `json:"case"`
	Request  string  `json:"request"`            // as sent
	Response string  `json:"response,omitempty"` // as received; "" without an answer
	Outcome  Outcome `json:"outcome"`

	Size   int64  `json:"size,omitempty"`   // bytes of the answer, if Response has only the beginning of it
	Broken string `json:"broken,omitempty"` // how the connection broke over HTTP, as in "connection reset"

	Status     int      `json:"status,omitempty"`      // HTTP status
	RetryAfter string   `json:"retry_after,omitempty"` // header of the answer
	Noise      []string `json:"noise,omitempty"`       // lines on standard output that are not messages, bounded
	Stderr     string   `json:"stderr,omitempty"`      // standard error during the case, bounded
	Exit       string   `json:"exit,omitempty"`        // exit status, if the server ended
	Hits       int      `json:"hits,omitempty"`        // requests to the fake upstream
	Extra      int      `json:"extra,omitempty"`       // further answers to an answered request
	Notices    int      `json:"notices,omitempty"`     // notifications during the case
	Kept       bool     `json:"kept,omitempty"`        // a cancelled call was answered long after the server had read the cancellation
	Millis     int64    `json:"ms"`                    // duration; rules depend on it only through the outcome
}

// Server describes the server.
type Server struct {
	Name         string   `json:"name"`
	Version      string   `json:"version,omitempty"`
	Protocol     string   `json:"protocol"`
	Transport    string   `json:"transport"` // stdio, http, sse
	Target       string   `json:"target"`    // command line or address, without secrets
	Capabilities []string `json:"capabilities,omitempty"`
	Extension    bool     `json:"extension,omitempty"` // the server announces dev.candor/errors
}

// Skip is a skipped item, with the reason.
type Skip struct {
	Tool   string `json:"tool,omitempty"`
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// Run holds the observations of all cases on one server. It can be saved and judged again.
type Run struct {
	Version      int           `json:"version"` // 1
	Begun        time.Time     `json:"begun"`
	Seed         uint64        `json:"seed"`
	Server       Server        `json:"server"`
	Greeting     Observation   `json:"greeting,omitzero"` // initialize or server/discover; its Noise is the output of the server at its start
	Tools        []Tool        `json:"tools"`
	Skipped      []Skip        `json:"skipped,omitempty"`
	Observations []Observation `json:"observations"`
	Restarts     int           `json:"restarts,omitempty"`   // restarts after a crash or a hang
	Incomplete   string        `json:"incomplete,omitempty"` // why the run ended early
}

// GivenSecret replaces a secret that the server was given, in a header or in its environment, in every text of a run. Short values and
// ordinary words are not replaced by it, because they may occur by chance.
const GivenSecret = "[redacted:given]"

// RunVersion is the version of the run format.
const RunVersion = 1

// Tool returns the tool with the given name, or nil.
func (r *Run) Tool(name string) *Tool {
	for i := range r.Tools {
		if r.Tools[i].Name == name {
			return &r.Tools[i]
		}
	}
	return nil
}

// Tool is a tool as the server lists it.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  Annotations     `json:"annotations,omitzero"`
	Codes        []string        `json:"codes,omitempty"` // codes declared in _meta["dev.candor/codes"]
}

// Annotations are the hints of a tool, nil for those that it does not give.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// IsReadOnly reports whether the tool declares itself read-only and not destructive.
func (t *Tool) IsReadOnly() bool { return isTrue(t.Annotations.ReadOnly) && !t.MayDestroy() }

// MayDestroy reports whether the tool declares itself destructive.
func (t *Tool) MayDestroy() bool { return isTrue(t.Annotations.Destructive) }

func isTrue(hint *bool) bool { return hint != nil && *hint }
