package boundary

import (
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

func TestUnknownLogLevelIsRefused(t *testing.T) {
	s := begin(t, rowServer(), eras[0], Options{})
	for level, fine := range map[string]bool{"warning": true, "emergency": true, "zz-bogus": false, "": false, "WARNING": false} {
		s.send(`{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"` + level + `"}}`)
		m := wire.Parse([]byte(s.next()), wire.Limits{})
		if fine != m.Result().Present() {
			t.Errorf("%q: %s", level, m.Bytes())
		}
		if fine {
			continue
		}
		if told, _ := envelope(t, &m); told.Code() != candor.CodeInvalidRequestParams || string(m.Error().Path("code").Raw()) != "-32602" {
			t.Errorf("%q: %s", level, m.Bytes())
		}
	}
	s.rest()
}
