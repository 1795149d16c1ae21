package boundary

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestResourceURIHidesItsSecrets reads resources that do not exist. The data of the answer must be the URI alone, without its
// secrets.
func TestResourceURIHidesItsSecrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-very-long-password"
	add := func(_ *Boundary, s *mcp.Server) http.Handler {
		s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "any", URITemplate: "db{+rest}"},
			func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return nil, mcp.ResourceNotFoundError(req.Params.URI)
			})
		return streamable(mcp.StreamableHTTPOptions{})(nil, s)
	}
	r := newRig(t, add, nil)
	r.initialize(t)
	for uri, want := range map[string]string{
		"db://admin:" + secret + "@host/table":        "", // by the handler
		"db://host/table?access_token=" + secret:      "",
		"gone://admin:" + secret + "@host/table":      "", // by the SDK
		"gone://host/table?api_key=" + secret:         "",
		"db://host/table":                             `"data":{"uri":"db://host/table"}`,
		"file:///srv/data/2026/report.txt":            `"data":{"uri":"file:///srv/data/2026/report.txt"}`,
		"gone://host/some/long/path/with?page=2&x=y1": `"data":{"uri":"gone://host/some/long/path/with?page=2&x=y1"}`,
	} {
		res := r.call(t, "2", "resources/read", `{"uri":`+string(quoted(uri))+`}`)
		if bytes.Contains(res.body, []byte(secret)) || !bytes.Contains(res.message, []byte(`"data":{"uri":`)) || !bytes.Contains(res.message, []byte(want)) {
			t.Errorf("%s: %s", uri, res.message)
		}
	}
	for _, entry := range r.all() {
		if bytes.Contains([]byte(entry.envelope), []byte(secret)) {
			t.Errorf("recorded %s", entry.envelope)
		}
	}
}
