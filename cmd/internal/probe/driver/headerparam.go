package driver

import (
	"net/http"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/mcpclient"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// headerParam is an argument that a tool requires in a header as well (x-mcp-header). Without it a server without sessions refuses every call.
type headerParam struct {
	header string
	path   []any
}

// The limits of mirrored arguments.
const (
	maxHeaderParams     = 20
	maxHeaderParamDepth = 8
)

// token matches a header name.
var token = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$")

// headerParamsOf returns the arguments that tools require in headers, by tool.
func headerParamsOf(tools []probe.Tool) map[string][]headerParam {
	out := map[string][]headerParam{}
	for i := range tools {
		if v, err := wire.ParseValue(tools[i].InputSchema, wire.Limits{}); err == nil {
			if found := headerParamsIn(v, nil); len(found) > 0 {
				out[tools[i].Name] = found[:min(len(found), maxHeaderParams)]
			}
		}
	}
	return out
}

// headerParamsIn searches the properties of a schema recursively.
func headerParamsIn(schema wire.Value, path []any) (out []headerParam) {
	properties := schema.Path("properties")
	if properties.Type() != wire.TypeObject || len(path) >= maxHeaderParamDepth {
		return nil
	}
	for key, p := range properties.Members() {
		name, _ := key.Str()
		at := append(path[:len(path):len(path)], name)
		if header, ok := p.Path("x-mcp-header").Str(); ok && token.MatchString(header) {
			out = append(out, headerParam{"Mcp-Param-" + header, at})
		}
		if out = append(out, headerParamsIn(p, at)...); len(out) >= maxHeaderParams {
			break
		}
	}
	return out
}

// setParamHeaders sets the headers that the tool of a call requires. Arguments that are not strings, numbers or booleans are left out.
func setParamHeaders(h http.Header, m *wire.Message, wanted map[string][]headerParam) {
	tool, _ := m.Params().Path("name").Str()
	if !m.MethodIs("tools/call") {
		return
	}
	for _, w := range wanted[tool] {
		v := m.Params().Path("arguments").Path(w.path...)
		switch v.Type() {
		case wire.TypeString:
			text, _ := v.Str()
			h.Set(w.header, mcpclient.HeaderValue(text))
		case wire.TypeNumber, wire.TypeBool:
			h.Set(w.header, string(v.Raw()))
		default:
		}
	}
}
