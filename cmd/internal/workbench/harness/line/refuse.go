package line

import (
	"encoding/json"

	"github.com/candor-mcp/candor"
)

// Refuse is for a transport that checks parameters itself and has found that they do not fit. It counts the call as failed and returns
// the error that [Server.Call] would return, that of the rate limit before that of the parameters. It runs nothing. It returns nil if
// the parameters do fit.
func (s *Server) Refuse(name string, params json.RawMessage) *candor.Error {
	m, e := s.find(name)
	if e != nil {
		return e
	}
	if e = s.admit(m, params); e != nil {
		m.calls.Add(1)
		m.errors.Add(1)
	}
	return e
}
