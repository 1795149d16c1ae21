package wire

import "github.com/candor-mcp/candor/internal/wireflaw"

// judge sets the shape of a message from its located members, and notes the flaws that
// make it invalid in JSON-RPC 2.0. After an incomplete scan the shape is unknown.
func (p *parser) judge() {
	if p.halt.Flaw != wireflaw.None && p.halt.Flaw != wireflaw.TrailingData {
		p.judgeID()
		return
	}
	switch p.m.Value().Type() {
	case TypeObject:
		p.judgeVersion()
		p.judgeID()
		p.m.shape = p.judgeShape()
	case TypeArray:
		p.note(wireflaw.Batch, int(p.m.root.begin))
	default:
		p.note(wireflaw.NotObject, int(p.m.root.begin))
	}
}

func (p *parser) judgeVersion() {
	if !p.m.part(p.m.version).Is("2.0") {
		p.note(wireflaw.BadVersion, p.placeOf(p.m.version))
	}
}

// judgeID drops an id of the wrong type. It keeps null, which differs from a missing id.
func (p *parser) judgeID() {
	switch p.m.part(p.m.id).Type() {
	case TypeNull:
		p.note(wireflaw.NullID, int(p.m.id.begin))
	case TypeBool, TypeArray, TypeObject:
		p.note(wireflaw.BadID, int(p.m.id.begin))
		p.m.id = span{}
	case TypeAbsent, TypeNumber, TypeString:
	}
}

func (p *parser) judgeShape() Kind {
	p.dropNullTwin()
	hasMethod, hasResult, hasError := !p.m.method.empty(), !p.m.result.empty(), !p.m.fault.empty()
	switch {
	case hasMethod && (hasResult || hasError):
		p.note(wireflaw.RequestAndResponse, int(p.m.method.begin))
		return KindMalformed
	case hasMethod:
		return p.judgeRequest()
	case hasResult && hasError:
		p.note(wireflaw.ResultAndError, int(max(p.m.result.begin, p.m.fault.begin)))
		return KindMalformed
	case hasResult:
		if !p.hasID {
			p.note(wireflaw.MissingID, int(p.m.root.begin))
		}
		return KindResult
	case hasError:
		p.judgeError()
		return KindError
	default:
		p.note(wireflaw.NeitherResultNorError, int(p.m.root.begin))
		return KindMalformed
	}
}

// dropNullTwin drops a null error beside a result, and a null result beside an error. JSON-RPC 1.0 requires both members, and
// most clients accept such responses.
func (p *parser) dropNullTwin() {
	switch result, fault := p.m.Result().Type(), p.m.Error().Type(); {
	case result == TypeAbsent || fault == TypeAbsent:
	case fault == TypeNull:
		p.m.fault = span{}
	case result == TypeNull:
		p.m.result = span{}
	}
}

func (p *parser) judgeRequest() Kind {
	if p.m.part(p.m.method).Type() != TypeString {
		p.note(wireflaw.BadMethod, int(p.m.method.begin))
	}
	switch p.m.Params().Type() {
	case TypeObject, TypeArray, TypeAbsent:
	case TypeNull, TypeBool, TypeNumber, TypeString:
		p.note(wireflaw.BadParams, int(p.m.params.begin))
	}
	if p.hasID {
		return KindRequest
	}
	return KindNotification
}

func (p *parser) judgeError() {
	var code, message Value
	for name, value := range p.m.Error().Members() {
		switch {
		case name.Is("code"):
			code = value
		case name.Is("message"):
			message = value
		case name.Is("data"):
		case foldedName(unquoted(name.raw), "code", "message", "data") != "":
			p.note(wireflaw.FoldedName, int(p.m.fault.begin))
		}
	}
	if !code.IsInteger() || message.Type() != TypeString {
		p.note(wireflaw.BadError, int(p.m.fault.begin))
	}
}

// placeOf returns the offset of a member, or of its object if the member is missing.
func (p *parser) placeOf(at span) int {
	if at.empty() {
		return int(p.m.root.begin)
	}
	return int(at.begin)
}
