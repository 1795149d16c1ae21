package judge

import "github.com/candor-mcp/candor/probe"

// Label returns the pattern of an observation in the words of the corpus of recorded servers, such as isError_text. t is the tool, nil
// where the case belongs to none.
func Label(o *probe.Observation, t *probe.Tool) string {
	return ""
}
