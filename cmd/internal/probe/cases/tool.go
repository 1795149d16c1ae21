package cases

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/internal/schema"
)

// maker makes the cases of one tool.
type maker struct {
	tool  *probe.Tool
	shape shape
	sound *schema.Schema // nil if it cannot be used
	real  bool           // it may be called with arguments that it accepts
	cases []probe.Case
	skips []probe.Skip
}

func forTool(t *probe.Tool, o Options) ([]probe.Case, []probe.Skip) {
	allowed := o.Yes || slices.Contains(o.Allow, t.Name)
	if executes(t.Name) && !allowed {
		return nil, []probe.Skip{{Tool: t.Name, What: "all cases", Reason: "its name says that it executes something; --allow " + t.Name + " includes it"}}
	}
	m := newMaker(t, o)
	m.validation()
	m.domain()
	m.upstream(faultsFor(t, o))
	if !m.real {
		why := "it does not say that it only reads"
		if t.IsReadOnly() {
			why = "it says that it only reads, and its name says otherwise"
		}
		m.skips = append(m.skips, probe.Skip{Tool: t.Name, What: "all calls but those without required arguments or with arguments that are not an object", Reason: why + "; --allow " + t.Name + " includes them"})
	}
	return m.cases, m.skips
}

func newMaker(t *probe.Tool, o Options) *maker {
	m := &maker{tool: t, shape: shapeOf(t.InputSchema), real: mayRun(t, o)}
	if len(t.InputSchema) > 0 {
		if s, err := schema.Compile(t.InputSchema); err == nil { // one that cannot be used checks nothing
			m.sound = s
		}
	}
	return m
}

// mayRun reports a tool that may be called with arguments that it accepts. One that says that it only reads is not believed if its name
// says otherwise: a hint is only a hint, and what is deleted is gone.
func mayRun(t *probe.Tool, o Options) bool {
	allowed := o.Yes || slices.Contains(o.Allow, t.Name)
	return allowed || t.IsReadOnly() && !executes(t.Name) && !changes(t.Name)
}

// add plans a call. A tool that may not be called for real gets only what it must refuse; see [probe.Case.Refusable].
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
	if m.real || c.Refusable() && m.refused(json.RawMessage(`{}`)) { // a server may take anything that is not an object for {}
		m.cases = append(m.cases, c)
	}
}

// care is how carefully the tool is called.
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

// madeUp finds a value that names nothing which exists. Without one, as where all arguments are choices or amounts, nothing has to fail.
var madeUp = lazyregexp.New(`zz|999999|00000000-0000-4000`)

// refused reports arguments that the schema of the tool must refuse.
func (m *maker) refused(arguments json.RawMessage) bool {
	if arguments == nil {
		arguments = json.RawMessage(`{}`) // which is what most servers take it for
	}
	if arguments[0] != '{' {
		return true // the protocol itself wants an object
	}
	return m.sound != nil && !m.sound.Accepts(arguments) && !m.sound.Explain(arguments).OK()
}

// validation are arguments that are wrong, one fault at a time.
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
	if first, ok := m.shape.first(); ok && first.wrong() != nil { // without a value it would be one that is missing
		m.add(probe.GroupValidation, probe.CaseWrongType, pointer.Of(first.name), m.shape.arguments(first.name, first.wrong()))
	}
	for _, p := range m.shape.properties {
		if bad := p.notInEnum(); bad != nil && !m.has(probe.CaseBadEnum) {
			m.add(probe.GroupValidation, probe.CaseBadEnum, pointer.Of(p.name), m.shape.arguments(p.name, bad))
		}
		if bad := p.outOfRange(); bad != nil && !m.has(probe.CaseOutOfRange) {
			m.add(probe.GroupValidation, probe.CaseOutOfRange, pointer.Of(p.name), m.shape.arguments(p.name, bad))
		}
		if bad := p.empty(); bad != nil && !m.has(probe.CaseEmptyText) {
			m.add(probe.GroupValidation, probe.CaseEmptyText, pointer.Of(p.name), m.shape.arguments(p.name, bad))
		}
		if bad := p.tooLong(); bad != nil && !m.has(probe.CaseTooLong) {
			m.add(probe.GroupValidation, probe.CaseTooLong, pointer.Of(p.name), m.shape.arguments(p.name, bad))
		}
	}
	m.add(probe.GroupValidation, probe.CaseExtraProperty, pointer.Of("zz_unknown_property"), m.shape.arguments("zz_unknown_property", json.RawMessage(`"zz"`)))
	m.add(probe.GroupValidation, probe.CaseArgsArray, "", json.RawMessage(`[]`))
	m.add(probe.GroupValidation, probe.CaseArgsString, "", json.RawMessage(`"zz"`))
	m.add(probe.GroupValidation, probe.CaseArgsNull, "", json.RawMessage(`null`))
	m.add(probe.GroupValidation, probe.CaseArgsAbsent, "", nil)
}

func (m *maker) has(name string) bool {
	return slices.ContainsFunc(m.cases, func(c probe.Case) bool { return c.Name == name })
}

// repeat plans the last case once more, to see whether the same fault has the same code.
func (m *maker) repeat() {
	if n := len(m.cases); n > 0 {
		again := m.cases[n-1]
		again.Again = 1
		m.cases = append(m.cases, again)
	}
}

// domain asks in sound arguments: for what does not exist, and for what may well exist.
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

// unknownIDs names what does not exist in the arguments that are optional: a parent, a cursor, a filter. Some servers find nothing then,
// and for some the caller may choose the id, so that nothing has to fail.
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

// unknownID is an id that names nothing, in a form that the schema accepts if one of the usual forms is.
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

// plain are arguments as a person would give them to try the tool.
func (m *maker) plain() json.RawMessage {
	return members(m.shape.required(), func(p property) json.RawMessage { return sample(p.name, p.schema, 0) })
}

// valid are arguments that the schema accepts, as far as we can make them.
func (m *maker) valid() json.RawMessage { return m.accepted(m.shape.arguments("", nil)) }

// accepted returns arguments changed so that the schema accepts them, as far as we can.
func (m *maker) accepted(made json.RawMessage) json.RawMessage {
	if m.sound == nil || m.sound.Accepts(made) {
		return made
	}
	report := m.sound.Explain(made)
	if report.OK() {
		return made
	}
	if template := report.Template; !template.IsZero() {
		return json.RawMessage(template.String())
	}
	return made
}

// slowTools is how many tools wait for a service that does not answer: each such call takes the whole of its deadline.
const slowTools = 2

// faultsFor are the faults that a tool is tried with.
func faultsFor(t *probe.Tool, o Options) []string {
	if slices.Contains(o.slow, t.Name) {
		return o.Faults
	}
	return slices.DeleteFunc(slices.Clone(o.Faults), func(fault string) bool { return fault == slowFault })
}

const slowFault = "slow"

// upstream are sound calls while the service behind the tool fails.
func (m *maker) upstream(faults []string) {
	if !m.real {
		return
	}
	arguments := m.valid()
	for _, fault := range faults {
		m.cases = append(m.cases, probe.Case{Group: probe.GroupUpstream, Name: "up_" + fault, Tool: m.tool.Name, Fault: fault,
			Method: "tools/call", Params: params(m.tool.Name, arguments), Expect: probe.ExpectFailure})
	}
}

// lasting are words by which a tool says that its calls take long.
var lasting = lazyregexp.New(`(?i)long.?running|sleep|delay|takes (a )?(long|while)|slow`)

// calledOff is a sound call that is called off while it is being worked on: of a tool that says that it takes long, or else of the first
// that may be called. Of one that answers at once nothing is learnt, so one call is enough.
func calledOff(tools []probe.Tool, o Options) []probe.Case {
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
