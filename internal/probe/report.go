package probe

import "time"

// Grade rates a tool or a server from A to F.
type Grade string

// The grades.
const (
	GradeA Grade = "A"
	GradeB Grade = "B"
	GradeC Grade = "C"
	GradeD Grade = "D"
	GradeF Grade = "F"
)

// Grades lists the grades, the best first.
var Grades = []Grade{GradeA, GradeB, GradeC, GradeD, GradeF}

// Pattern is the form in which a server reports a failure.
type Pattern string

// The patterns. A and B are those of the dual-envelope documents: an error, or the data of a success.
const (
	PatternRPC        Pattern = "rpc"        // a JSON-RPC error
	PatternText       Pattern = "text"       // isError with prose
	PatternJSON       Pattern = "json"       // isError with JSON in its text
	PatternStructured Pattern = "structured" // isError with structuredContent or an envelope in _meta
	PatternA          Pattern = "A"          // isError with {ok:false, error:{code, message}}
	PatternB          Pattern = "B"          // a success with the data {ok:false, error:{code, message}}
	PatternMaskedJSON Pattern = "masked-json"
	PatternMaskedText Pattern = "masked-text"
	PatternSilent     Pattern = "silent"  // a plain success in a case that had to fail
	PatternGarbage    Pattern = "garbage" // garbage of the upstream, passed on as a result
	PatternNoAnswer   Pattern = "no-answer"
)

// ToolReport is one row of the inventory.
type ToolReport struct {
	Tool     string          `json:"tool"`
	Grade    Grade           `json:"grade"` // "" if it cannot be judged; Skipped has the reason
	Score    int             `json:"score"` // 100 minus the weight of its findings, at least 0
	Cases    int             `json:"cases"`
	Failures int             `json:"failures"` // cases that failed, in any pattern
	Patterns map[Pattern]int `json:"patterns"`
	Dialects []string        `json:"dialects,omitempty"` // dialects of its failures
	Kinds    []string        `json:"code_kinds"`         // where codes were found: number, symbol, http, text, none
	Codes    []string        `json:"codes"`              // as the server writes them
	Retry    string          `json:"retry"`              // temporary failures have retry advice: yes, no, n/a
	Field    string          `json:"field"`              // the wrong argument is named: always, sometimes, never, n/a
	Leaks    int             `json:"leaks"`
	Findings int             `json:"findings"`
	Raise    []string        `json:"raise,omitempty"` // fixes that raise the grade, the most effective first
	Skipped  string          `json:"skipped,omitempty"`

	HiddenFrom []string `json:"hidden_from,omitempty"` // clients that do not show their models every failure of the tool
}

// Report is the judgement of a run.
type Report struct {
	Version  int          `json:"version"` // 1
	Begun    time.Time    `json:"begun"`
	Seed     uint64       `json:"seed"`
	Rules    string       `json:"rules"` // the rule set
	Server   Server       `json:"server"`
	Grade    Grade        `json:"grade"`   // "" if it cannot be judged; Incomplete has the reason
	Score    int          `json:"score"`   // the mean of its tools and of the protocol
	Dialect  string       `json:"dialect"` // of most failures; "" is none or an unknown one
	Cases    int          `json:"cases"`
	Failures int          `json:"failures"`
	Masked   int          `json:"masked"`
	Tools    []ToolReport `json:"tools"`
	Protocol ToolReport   `json:"protocol"` // cases that belong to no tool
	Findings []Finding    `json:"findings"` // the worst first, then by rule and tool
	Raise    []string     `json:"raise,omitempty"`
	Skipped  []Skip       `json:"skipped,omitempty"`
	Applied  []Rule       `json:"applied"` // rules that were checked

	Incomplete string `json:"incomplete,omitempty"`

	Coverage Coverage `json:"coverage,omitzero"`
	// Clients is the number of known clients, or 0 if no tool reported a failure. Those in HiddenFrom do not show their models the words of
	// all failures; Hidden counts the failures that one of them does not show. They do not count for the grade.
	Clients    int      `json:"clients,omitempty"`
	Hidden     int      `json:"hidden,omitempty"`
	HiddenFrom []string `json:"hidden_from,omitempty"`
	// GradeIncomplete is the reason why the grade has little meaning: no tool was called with arguments that it
	// accepts. It is "" otherwise.
	GradeIncomplete string `json:"grade_incomplete,omitempty"`
}

// Coverage counts the tools by how they were called.
type Coverage struct {
	Tools    int `json:"tools"`         // listed by the server
	Called   int `json:"called"`        // called with valid arguments
	Refusing int `json:"only_refusals"` // called only with arguments that they must refuse
	LeftOut  int `json:"left_out"`      // not called
}

// ReportVersion is the version of the report format.
const ReportVersion = 1
