package dialect

import (
	"encoding/json"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// Members that a shape does not define are kept in details under their own names, so that readers can use them. The
// canonical error, which accompanies every shape, passes them on.

// besideMember is the member of details that lists the members that were beside details in data, so that the rpc
// dialect can write them there again.
const besideMember = "beside"

// valueMember is the member of details that holds details that are not an object, or that share a name with a member beside them.
const valueMember = "value"

// joined returns details with the members of more added, or an absent value if both are empty. If both have a member of
// one name, details keep theirs, and the other goes into an object named "beside".
func joined(details, more wire.Value) wire.Value {
	switch {
	case more.Len() == 0:
		return details
	case !details.Present() || details.IsNull():
		return more
	case details.Type() != wire.TypeObject:
		details = object{}.raw(valueMember, details.Raw()).value()
	}
	var out, taken object
	for name, value := range details.Members() {
		out = out.keep(name, value)
	}
	for name, value := range more.Members() {
		key, _ := name.Str()
		if _, has := details.Get(key); has {
			taken = taken.keep(name, value)
		} else {
			out = out.keep(name, value)
		}
	}
	if _, has := details.Get(besideMember); !taken.empty() && !has && !more.Path(besideMember).Present() {
		out = out.raw(besideMember, taken.json())
	}
	return out.value()
}

// rpcOwn are the members of data that the rpc dialect defines.
var rpcOwn = []string{"domain", "symbol", "details", "retryable", "retryAfterMs", "stack", MetaKey}

// rpcDetails reads details and the members beside them:
//
//	{"details":{"a":1},"hint":"x"}  →  {"beside":["hint"],"a":1,"hint":"x"}
//	{"details":"text","hint":"x"}   →  {"beside":["hint"],"value":"text","hint":"x"}
//
// Data that is not an object becomes the details. Data that is exactly a uri is kept unchanged, because clients
// recognise a missing resource by it.
func rpcDetails(data wire.Value, code candor.Code) json.RawMessage {
	if !data.Present() || data.IsNull() {
		return nil
	}
	if data.Type() != wire.TypeObject {
		return data.Raw()
	}
	details, has := data.Get("details")
	has = has && !details.IsNull()
	rest := without(data, rpcOwn...)
	switch {
	case rest.Len() == 0 && !has:
		return nil
	case rest.Len() == 0:
		return canonicalDetails(details).Raw()
	case isURI(data) && code == candor.CodeResourceNotFound:
		return rest.Raw()
	}
	var names []string
	for name := range rest.Members() {
		key, _ := name.Str()
		names = append(names, key)
	}
	mark := object{}.texts(besideMember, names).value()
	value := object{}.raw(valueMember, details.Raw()).value()
	switch {
	case clash(rest, mark), has && clash(rest, value):
		return joined(rest, object{}.raw("details", details.Raw()).value()).Raw() // the names are in use, so all members are details
	case !has:
	case details.Type() == wire.TypeObject && !clash(details, rest) && !clash(details, mark) && !isValue(details):
		rest = joined(details, rest)
	default:
		rest = joined(value, rest)
	}
	return canonicalDetails(joined(mark, rest)).Raw()
}

func isValue(details wire.Value) bool {
	_, has := details.Get(valueMember)
	return has && details.Len() == 1
}

// apart is the inverse of rpcDetails. Details that were not joined are returned alone.
func apart(details candor.Details) (own string, beside wire.Value) {
	own = details.String()
	if !strings.Contains(own, `"`+besideMember+`":[`) {
		return own, wire.Value{}
	}
	v, err := wire.ParseValue([]byte(own), wire.Limits{})
	names, ok := v.Get(besideMember)
	if err != nil || !ok || names.Len() == 0 || !allTexts(names) {
		return own, wire.Value{}
	}
	gone := []string{besideMember}
	var out object
	for name := range names.Elements() {
		key, _ := name.Str()
		if value, ok := v.Get(key); ok && !isRPCOwn(key) && key != besideMember {
			out = out.raw(key, value.Raw())
			gone = append(gone, key)
		}
	}
	rest := without(v, gone...)
	switch {
	case rest.Len() == 0:
		return "", out.value()
	case isValue(rest):
		return string(rest.Path(valueMember).Raw()), out.value()
	default:
		return string(rest.Raw()), out.value()
	}
}

func isRPCOwn(name string) bool {
	for _, own := range rpcOwn {
		if name == own {
			return true
		}
	}
	return false
}

// isOnlyURI reports whether data of exactly {"uri": …} represents the whole error except for its time and ref. Such an
// error is written without the canonical error, because clients compare the data.
func isOnlyURI(e *candor.Error) bool {
	if e.Code() != candor.CodeResourceNotFound || e.Details().Get("uri").IsZero() {
		return false
	}
	v, err := wire.ParseValue([]byte(e.Details().String()), wire.Limits{})
	if err != nil || !isURI(v) {
		return false
	}
	all := candor.JSONOptions{Stack: true, PlainRoot: true}
	bare := candor.New(e.Code(), e.Message(), candor.WithOrigin(candor.PartyServer, false), candor.WithDetails(e.Details()),
		candor.WithRef(e.Ref()), candor.WithTime(e.Time()))
	return string(e.AppendJSON(nil, all)) == string(bare.AppendJSON(nil, all))
}
