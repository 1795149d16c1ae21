package console

import "context"

// ServerSource is the state of running upstreams, which a gateway gives.
type ServerSource interface {
	Servers(ctx context.Context) []ServerState
}

// ServerState is the state of a running upstream since the start.
type ServerState struct {
	Name     string `json:"name"`
	Mode     string `json:"mode"`
	Calls    uint64 `json:"calls"`
	Open     uint64 `json:"open"`
	Late     uint64 `json:"late"`    // answers that came after their call had ended
	Breaker  string `json:"breaker"` // closed, open, half-open or off
	Wasted   uint64 `json:"wastedRetries"`
	Restarts uint64 `json:"restarts"` // of a server that the gateway starts

	FailureShare float64    `json:"failureShare"` // of the calls, from 0 to 1
	MaskedShare  float64    `json:"maskedShare"`  // of the calls
	Latency      [3]float64 `json:"latencyMs"`    // of recent calls: median, 90th and 99th percentile
}

// Rule is a proposed rule for suspected failures of a tool.
type Rule struct {
	ID       string   `json:"id"`
	Words    string   `json:"rule"`
	Held     string   `json:"held,omitempty"` // why it is not recommended
	Answers  uint64   `json:"answers"`        // that it would have changed
	Calls    int      `json:"calls"`          // different ones among them
	Codes    []string `json:"codes"`
	Examples []string `json:"examples"`
}

// Change is a change to a profile.
type Change struct {
	File    string `json:"file"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Added   int    `json:"added"`          // rules; 0 if the file has them already
	Version string `json:"version"`        // of the file before; writing requires that it did not change
	Next    string `json:"next,omitempty"` // how the rule comes into force
}

// RuleMaker proposes rules for suspected failures and writes them.
type RuleMaker interface {
	// Propose returns the rules for a tool.
	Propose(ctx context.Context, server, tool string) ([]Rule, error)
	// Preview returns the change that the rules make, without writing it.
	Preview(ctx context.Context, server, tool string, ids []string) (Change, error)
	// Write makes the change that Preview returned with this version.
	Write(ctx context.Context, server, tool string, ids []string, version string) (Change, error)
}
