package cases

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/schema"
)

// maker makes the cases of one tool.
type maker struct {
	tool  *probe.Tool
	shape shape
	sound *schema.Schema // nil if the schema cannot be compiled
	real  bool           // the tool may be called with valid arguments
	cases []probe.Case
	skips []probe.Skip
}

func forTool(t *probe.Tool, o Options) ([]probe.Case, []probe.Skip) {
	allowed := o.Yes || slices.Contains(o.Allow, t.Name)
	if executes(t.Name) && !allowed {
		return nil, []probe.Skip{{Tool: t.Name, What: "all cases", Reason: "tools that look as if they execute something are not called by default; --allow " + t.Name + " includes it"}}
	}
	m := newMaker(t, o)
	m.validation()
	m.domain()
	if m.real {
		m.upstream(faultsFor(t, o))
	} else {
		why := "it is not declared read-only"
		if t.IsReadOnly() {
			why = "it is declared read-only, but its name says that it changes something"
		}
		m.skips = append(m.skips, probe.Skip{Tool: t.Name, What: "all calls except those without required arguments or with arguments that are not an object", Reason: why + "; --allow " + t.Name + " includes them"})
	}
	return m.cases, m.skips
}

func newMaker(t *probe.Tool, o Options) *maker {
	m := &maker{tool: t, shape: shapeOf(t.InputSchema), real: mayRun(t, o)}
	if len(t.InputSchema) > 0 {
		if s, err := schema.Compile(t.InputSchema); err == nil { // an invalid schema checks nothing
			m.sound = s
		}
	}
	return m
}

// mayRun reports whether a tool may be called with valid arguments. readOnlyHint is not trusted if the name of the tool contradicts it,
// because deleted data cannot be restored.
func mayRun(t *probe.Tool, o Options) bool {
	allowed := o.Yes || slices.Contains(o.Allow, t.Name)
	return allowed || t.IsReadOnly() && !executes(t.Name) && !changes(t.Name)
}

// add plans a call. A tool that may not run gets only calls that it must refuse; see [probe.Case.Refusable].
func (m *maker) add(group probe.Group, name, field string, arguments json.RawMessage) {
	c := probe.Case{Group: group, Name: name, Tool: m.tool.Name, Field: field, Method: "tools/call", Params: params(m.tool.Name, arguments), Care: m.care()}
	switch {
	case m.refused(arguments):
		c.Expect = probe.ExpectRefusal
	case group == probe.GroupDomain && name == probe.CaseNonexistent && madeUp.Match(arguments):
		c.Expect = probe.ExpectFailure
	default:
		c.Expect = probe.ExpectAnswer
	}
	if m.real || c.Refusable() && m.refused(json.RawMessage(`{}`)) { // a server may read anything that is not an object as {}
		m.cases = append(m.cases, c)
	}
}

// care returns how carefully the tool is called.
func (m *maker) care() probe.Care {
	switch {
	case m.real:
		return ""
	case changes(m.tool.Name) || m.tool.MayDestroy():
		return probe.CareFirst
	default:
		return probe.CareStop
	}
}

// madeUp matches a value that names nothing that exists. A call without one, as when all arguments are enums or amounts, need not fail.
var madeUp = lazyregexp.New(`zz|999999|00000000-0000-4000`)

// refused reports whether the schema of the tool refuses the arguments.
func (m *maker) refused(arguments json.RawMessage) bool {
	if arguments == nil {
		arguments = json.RawMessage(`{}`) // as most servers read it
	}
	if arguments[0] != '{' {
		return true // the protocol requires an object
	}
	return m.sound != nil && !m.sound.Accepts(arguments) && !m.sound.Explain(arguments).OK()
}

// validation plans calls with wrong arguments, one fault at a time.
func (m *maker) validation() {
	required := m.shape.required()
	if len(required) > 0 {
		m.add(probe.GroupValidation, probe.CaseMissingRequired, "", json.RawMessage(`{}`))
		m.repeat()
	}
	if len(required) > 1 {
		last := required[len(required)-1]
		m.add(probe.GroupValidation, probe.CaseMissingOne, pointer.Of(last.name), m.shape.arguments(last.name, nil))
	}
	if first, ok := m.shape.first(); ok && first.wrong() != nil { // without a value it would be missing instead
		m.add(probe.GroupValidation, probe.CaseWrongType, pointer.Of(first.name), m.shape.arguments(first.name, first.wrong()))
	}
	for _, p := range m.shape.properties {
		m.addOnce(probe.CaseBadEnum, p, p.notInEnum())
		m.addOnce(probe.CaseOutOfRange, p, p.outOfRange())
		m.addOnce(probe.CaseEmptyText, p, p.empty())
		m.addOnce(probe.CaseTooLong, p, p.tooLong())
	}
	m.add(probe.GroupValidation, probe.CaseExtraProperty, pointer.Of("zz_unknown_property"), m.shape.arguments("zz_unknown_property", json.RawMessage(`"zz"`)))
	m.add(probe.GroupValidation, probe.CaseArgsArray, "", json.RawMessage(`[]`))
	m.add(probe.GroupValidation, probe.CaseArgsString, "", json.RawMessage(`"zz"`))
	m.add(probe.GroupValidation, probe.CaseArgsNull, "", json.RawMessage(`null`))
	m.add(probe.GroupValidation, probe.CaseArgsAbsent, "", nil)
}

// addOnce plans a call with a wrong value of one argument, unless it is nil or the tool has such a case.
func (m *maker) addOnce(name string, p property, wrong json.RawMessage) {
	if wrong != nil && !slices.ContainsFunc(m.cases, func(c probe.Case) bool { return c.Name == name }) {
		m.add(probe.GroupValidation, name, pointer.Of(p.name), m.shape.arguments(p.name, wrong))
	}
}

// repeat plans the last case again, to check that the same fault has the same code.
func (m *maker) repeat() {
	if n := len(m.cases); n > 0 {
		again := m.cases[n-1]
		again.Again = 1
		m.cases = append(m.cases, again)
	}
}

// domain plans calls with valid arguments, for things that do not exist and for things that may exist.
func (m *maker) domain() {
	m.unknownIDs()
	if len(m.shape.required()) == 0 {
		m.add(probe.GroupDomain, probe.CaseNoArgsValid, "", json.RawMessage(`{}`))
		return
	}
	made := m.valid()
	m.add(probe.GroupDomain, probe.CaseNonexistent, "", made)
	if plain := m.plain(); m.sound != nil && m.sound.Accepts(plain) && !bytes.Equal(plain, made) {
		m.add(probe.GroupDomain, probe.CaseValid, "", plain)
	}
}

// unknownIDs plans a call with optional ids that do not exist, such as a parent, a cursor or a filter. It need not fail: a server may return
// an empty result, or let the caller choose the id.
func (m *maker) unknownIDs() {
	ids := slices.DeleteFunc(slices.Clone(m.shape.properties), func(p property) bool { return p.required || p.kind != "string" || !namesID(p.name) })
	if len(ids) == 0 {
		return
	}
	made := members(append(m.shape.required(), ids...), func(p property) json.RawMessage {
		if p.required {
			return p.valid()
		}
		return p.unknownID()
	})
	m.add(probe.GroupDomain, probe.CaseUnknownIDs, "", m.accepted(made))
}

// unknownID returns an id that does not exist, in one of the usual forms if the schema accepts it.
func (p property) unknownID() json.RawMessage {
	if own, err := schema.Compile(p.schema.Raw()); err == nil {
		for _, id := range []string{`"zz-nonexistent"`, `"00000000-0000-4000-8000-000000000000"`, `"999999999"`} {
			if own.Accepts([]byte(id)) || own.Explain([]byte(id)).OK() {
				return json.RawMessage(id)
			}
		}
	}
	return p.valid()
}

// plain returns arguments that a person would use to try the tool.
func (m *maker) plain() json.RawMessage {
	return members(m.shape.required(), func(p property) json.RawMessage { return sample(p.name, p.schema, 0) })
}

// valid returns made-up arguments that the schema accepts, as far as possible.
func (m *maker) valid() json.RawMessage { return m.accepted(m.shape.arguments("", nil)) }

// accepted returns the arguments, changed so that the schema accepts them as far as possible.
func (m *maker) accepted(made json.RawMessage) json.RawMessage {
	if m.sound == nil || m.sound.Accepts(made) {
		return made
	}
	if report := m.sound.Explain(made); !report.OK() && !report.Template.IsZero() {
		return json.RawMessage(report.Template.String())
	}
	return made
}

// slowTools is the number of tools that are tried with an upstream that does not answer: each such call takes its whole deadline.
const slowTools = 2

// faultsFor returns the faults that a tool is tried with.
func faultsFor(t *probe.Tool, o Options) []string {
	if slices.Contains(o.slow, t.Name) {
		return o.Faults
	}
	return slices.DeleteFunc(slices.Clone(o.Faults), func(fault string) bool { return fault == slowFault })
}

const slowFault = "slow"

// upstream plans valid calls while the upstream fails.
func (m *maker) upstream(faults []string) {
	arguments := m.valid()
	for _, fault := range faults {
		m.cases = append(m.cases, probe.Case{Group: probe.GroupUpstream, Name: "up_" + fault, Tool: m.tool.Name, Fault: fault,
			Method: "tools/call", Params: params(m.tool.Name, arguments), Expect: probe.ExpectFailure})
	}
}

// lasting matches descriptions of tools whose calls take long.
var lasting = lazyregexp.New(`(?i)long.?running|sleep|delay|takes (a )?(long|while)|slow`)

// cancelledCall returns a valid call that is cancelled while it runs: of a tool that is described as slow, or else of the first that may run.
// A fast tool shows nothing, so one call is enough.
func cancelledCall(tools []probe.Tool, o Options) []probe.Case {
	var chosen *probe.Tool
	for i := range tools {
		if t := &tools[i]; mayRun(t, o) && (chosen == nil || !takesLong(chosen) && takesLong(t)) {
			chosen = t
		}
	}
	if chosen == nil {
		return nil
	}
	return []probe.Case{{Group: probe.GroupLiveness, Name: probe.CaseCancel, Tool: chosen.Name, Method: "tools/call",
		Params: params(chosen.Name, newMaker(chosen, o).valid()), Expect: probe.ExpectSilence}}
}

func takesLong(t *probe.Tool) bool { return lasting.MatchString(t.Name + " " + t.Description) }
