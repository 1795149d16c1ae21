package drive

import (
	"net/http"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/wire"
)

// mirror is an argument that a tool wants in a header as well. Without sessions a client must put it there, and a server refuses the call
// if it does not: every case would fail by that, and by nothing else.
type mirror struct {
	header string
	path   []any
}

// The bounds of what is mirrored.
const (
	maxMirrors     = 20
	maxMirrorDepth = 8
)

// token is what the name of a header is made of.
var token = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$")

// mirrorsOf reads the arguments that tools want in headers.
func mirrorsOf(tools []probe.Tool) map[string][]mirror {
	out := map[string][]mirror{}
	for i := range tools {
		if v, err := wire.ParseValue(tools[i].InputSchema, wire.Limits{}); err == nil {
			if found := mirrorsIn(v, nil); len(found) > 0 {
				out[tools[i].Name] = found[:min(len(found), maxMirrors)]
			}
		}
	}
	return out
}

// mirrorsIn looks at the properties of a schema, and at theirs.
func mirrorsIn(schema wire.Value, path []any) (out []mirror) {
	properties := schema.Path("properties")
	if properties.Type() != wire.TypeObject || len(path) >= maxMirrorDepth {
		return nil
	}
	for key, p := range properties.Members() {
		name, _ := key.Str()
		at := append(path[:len(path):len(path)], name)
		if header, ok := p.Path("x-mcp-header").Str(); ok && token.MatchString(header) {
			out = append(out, mirror{"Mcp-Param-" + header, at})
		}
		if out = append(out, mirrorsIn(p, at)...); len(out) >= maxMirrors {
			break
		}
	}
	return out
}

// reflectInto puts the arguments of a call into the headers that its tool wants them in. What is no text, number or truth value has no form
// in a header, and is left out.
func reflectInto(h http.Header, m *wire.Message, wanted map[string][]mirror) {
	tool, _ := m.Params().Path("name").Str()
	if !m.MethodIs("tools/call") {
		return
	}
	for _, w := range wanted[tool] {
		v := m.Params().Path("arguments").Path(w.path...)
		switch v.Type() {
		case wire.TypeString:
			text, _ := v.Str()
			h.Set(w.header, printable(text))
		case wire.TypeNumber, wire.TypeBool:
			h.Set(w.header, string(v.Raw()))
		default:
		}
	}
}
