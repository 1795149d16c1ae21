package zoo

import "slices"

// Defect is a defect of a server, with the cases and the rule that show it.
type Defect struct {
	ID    string   `json:"id"` // as in masked-text
	Title string   `json:"title"`
	About string   `json:"about"`          // the behaviour on the wire
	Tool  string   `json:"tool,omitempty"` // tool that has it; "" for the server as a whole
	Cases []string `json:"cases"`          // cases of probe that show it
	Rule  string   `json:"rule"`           // rule of probe that must find it
	Also  []string `json:"also,omitempty"` // other rules that find it as well

	Transport string `json:"transport,omitempty"` // stdio or http, if it is visible only there
	Protocol  string `json:"protocol,omitempty"`  // version, if it is a defect only there
}

// narrow has the defects that are visible only with one transport or version. Version 2026-07-28 assigned error numbers and removed log levels;
// a header needs HTTP; and over HTTP a crash looks like any broken connection, closing a request cancels it, and a status is an answer.
var narrow = map[string][2]string{
	"legacy-number": {"", modern}, "local-number": {"", modern}, "retired-number": {"", modern}, "level-ignored": {"", legacy[0]},
	"retry-header": {"http", ""}, "http-ok": {"http", modern}, "http-500": {"http", modern},
	"crash": {"stdio", ""}, "sound-dies": {"stdio", ""}, "malformed-dies": {"stdio", ""}, "oversize-dies": {"stdio", ""}, "banner": {"stdio", ""},
	"keeps-on": {"stdio", legacy[0]}, "malformed-silent": {"stdio", ""},
}

// Defects returns all defects, in the order in which the zoo shows them. The caller owns the slice.
func Defects() []Defect {
	known := implementations()
	out := make([]Defect, len(known))
	for i, c := range known {
		out[i] = c.Defect
		out[i].Cases, out[i].Also = slices.Clone(c.Cases), slices.Clone(c.Also)
		out[i].Transport, out[i].Protocol = narrow[c.ID][0], narrow[c.ID][1]
	}
	return out
}

// implementation is a defect with its implementation.
type implementation struct {
	Defect

	on     when               // calls that show it; all others get the correct answer
	show   func(*call) answer // nil for a defect of the server as a whole
	input  string             // the input schema, "" for that of records
	output string             // the output schema, "" for none
	codes  []string           // codes that the tool declares
	writes bool               // the tool is not declared read-only
	lasts  bool               // the tool is described as slow
	up     func(*call)        // queries the upstream instead of the records
}

// tool returns the tool that has the defect.
func (c implementation) tool() *tool {
	t := honestTool(c.Tool)
	t.about = "Shows the defect " + c.ID + ". " + t.about
	t.output, t.codes, t.writes = c.output, c.codes, c.writes
	if c.lasts {
		t.about += " It takes a while."
	}
	if c.input != "" {
		t.input = c.input
	}
	if c.up != nil {
		t.find = c.up
	}
	t.answer = func(call *call) answer {
		if c.on&call.state == 0 {
			return call.honest()
		}
		return c.show(call)
	}
	return t
}

// defect returns the defect of a tool with the same name. Without cases it has those of [implementation.on].
func defect(id, title, about, rule string, cases ...string) Defect {
	return Defect{ID: id, Tool: id, Title: title, About: about, Rule: rule, Cases: cases}
}

// casesOf are the cases that show a defect, by the calls that show it.
var casesOf = map[when][]string{whenMissing: missingCases, whenInput: inputCases, whenFailing: failingCases}

// implementations returns all defects with their implementations.
func implementations() []implementation {
	all := slices.Concat(masked(), numbers(), facts(), foreign(), contents(), liveness(), wide(), upstreams())
	for i := range all {
		if all[i].Cases == nil {
			all[i].Cases = casesOf[all[i].on]
		}
	}
	return all
}
