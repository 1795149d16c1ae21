package zoo

import "slices"

// Defect is one thing that is wrong with a server, and where to see it.
type Defect struct {
	ID    string   `json:"id"` // as in masked-text
	Title string   `json:"title"`
	About string   `json:"about"`          // what is seen on the wire
	Tool  string   `json:"tool,omitempty"` // that shows it; "" for the server as a whole
	Cases []string `json:"cases"`          // of probe, that bring it out
	Rule  string   `json:"rule"`           // of probe, that must find it
	Also  []string `json:"also,omitempty"` // rules that cannot but find it, too

	Transport string `json:"transport,omitempty"` // stdio or http, where it can be found on that one alone
	Protocol  string `json:"protocol,omitempty"`  // the version, where it is a defect in that one alone
}

// narrow are the defects that cannot be found everywhere. Numbers were allotted, and levels went, with 2026-07-28; a header needs HTTP; and
// over HTTP the end of a server looks like any broken connection, a call is called off by leaving, and a status is an answer.
var narrow = map[string][2]string{
	"legacy-number": {"", modern}, "local-number": {"", modern}, "retired-number": {"", modern}, "level-ignored": {"", legacy[0]},
	"retry-header": {"http", ""}, "http-ok": {"http", modern}, "http-500": {"http", modern},
	"crash": {"stdio", ""}, "sound-dies": {"stdio", ""}, "malformed-dies": {"stdio", ""}, "oversize-dies": {"stdio", ""}, "banner": {"stdio", ""},
	"keeps-on": {"stdio", legacy[0]}, "malformed-silent": {"stdio", ""},
}

// Defects returns all defects, in the order in which the zoo shows them. The caller owns the slice.
func Defects() []Defect {
	known := cages()
	out := make([]Defect, len(known))
	for i, c := range known {
		out[i] = c.Defect
		out[i].Cases, out[i].Also = slices.Clone(c.Cases), slices.Clone(c.Also)
		out[i].Transport, out[i].Protocol = narrow[c.ID][0], narrow[c.ID][1]
	}
	return out
}

// cage is a defect and what it does.
type cage struct {
	Defect

	on     when               // the calls that show it; all others are answered honestly
	show   func(*call) answer // nil for a defect of the server as a whole
	input  string             // the input schema, "" for that of records
	output string             // the output schema, "" for none
	codes  []string           // that the tool declares
	writes bool               // the tool does not say that it only reads
	lasts  bool               // the tool says that it takes long
	up     func(*call)        // asks the upstream, in place of the records
}

// tool is the tool that shows the defect.
func (c cage) tool() *tool {
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

// cages returns all defects with what they do.
func cages() []cage {
	return slices.Concat(masked(), numbers(), facts(), foreign(), contents(), liveness(), wide(), upstreams())
}
