package probe

import "time"

// Grade is the sum of the findings on a tool or a server: A to F.
type Grade string

// The grades.
const (
	GradeA Grade = "A"
	GradeB Grade = "B"
	GradeC Grade = "C"
	GradeD Grade = "D"
	GradeF Grade = "F"
)

// Pattern is a way in which a server tells of a failure.
type Pattern string

// The patterns. A and B are those of the dual-envelope documents: thrown and wrapped, or returned as data of a success.
const (
	PatternRPC        Pattern = "rpc"        // a JSON-RPC error
	PatternText       Pattern = "text"       // isError with prose
	PatternJSON       Pattern = "json"       // isError with JSON in its text
	PatternStructured Pattern = "structured" // isError with structuredContent or an envelope in _meta
	PatternA          Pattern = "A"          // isError with {ok:false, error:{code, message}}
	PatternB          Pattern = "B"          // a success whose data is {ok:false, error:{code, message}}
	PatternMaskedJSON Pattern = "masked-json"
	PatternMaskedText Pattern = "masked-text"
	PatternSilent     Pattern = "silent"  // a success where a failure was due, with nothing that says so
	PatternGarbage    Pattern = "garbage" // what the upstream answered, passed on as if it were a result
	PatternNoAnswer   Pattern = "no-answer"
)

// ToolReport is one row of the inventory.
type ToolReport struct {
	Tool     string          `json:"tool"`
	Grade    Grade           `json:"grade"` // "" if it cannot be judged; Skipped says why
	Score    int             `json:"score"` // 100 less what its findings weigh, at least 0: moves where the grade does not
	Cases    int             `json:"cases"`
	Failures int             `json:"failures"` // cases that failed, however that was told
	Patterns map[Pattern]int `json:"patterns"`
	Dialects []string        `json:"dialects,omitempty"` // that its failures are written in
	Kinds    []string        `json:"code_kinds"`         // where codes were found: number, symbol, http, text, none
	Codes    []string        `json:"codes"`              // as the server says them
	Retry    string          `json:"retry"`              // yes, no, or n/a where nothing asked for it
	Field    string          `json:"field"`              // the failing field is named: always, sometimes, never, n/a
	Leaks    int             `json:"leaks"`
	Findings int             `json:"findings"`
	Raise    []string        `json:"raise,omitempty"` // what would raise the grade, the most first
	Skipped  string          `json:"skipped,omitempty"`
}

// Report is a run, judged.
type Report struct {
	Version  int          `json:"version"` // 1
	Begun    time.Time    `json:"begun"`
	Seed     uint64       `json:"seed"`
	Rules    string       `json:"rules"` // the rule set
	Server   Server       `json:"server"`
	Grade    Grade        `json:"grade"`   // "" if it cannot be judged; Incomplete says why
	Score    int          `json:"score"`   // the mean of its tools and of the protocol
	Dialect  string       `json:"dialect"` // that most failures speak; "" is none that we know
	Cases    int          `json:"cases"`
	Failures int          `json:"failures"`
	Masked   int          `json:"masked"`
	Tools    []ToolReport `json:"tools"`
	Protocol ToolReport   `json:"protocol"` // the cases that belong to no tool
	Findings []Finding    `json:"findings"` // the worst first, then by rule and tool
	Raise    []string     `json:"raise,omitempty"`
	Skipped  []Skip       `json:"skipped,omitempty"`
	Applied  []Rule       `json:"applied"` // the rules that were held against it

	Incomplete string `json:"incomplete,omitempty"`

	Coverage Coverage `json:"coverage,omitzero"`
	// GradeIncomplete says why the grade says little: no tool was called with arguments that it accepts. It is "" otherwise.
	GradeIncomplete string `json:"grade_incomplete,omitempty"`
}

// Coverage counts the tools by how they were called.
type Coverage struct {
	Tools    int `json:"tools"`         // that the server lists
	Called   int `json:"called"`        // with arguments that they accept
	Refusing int `json:"only_refusals"` // only with arguments that they must refuse
	LeftOut  int `json:"left_out"`      // not at all
}

// ReportVersion is the version of the form of a report.
const ReportVersion = 1
