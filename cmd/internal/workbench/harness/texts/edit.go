package texts

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

// Edit replaces a text that occurs once.
type Edit struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// Apply makes edits one after the other and returns the new text and the line of each edit in it.
func Apply(text string, edits []Edit) (result string, lines []int, err error) {
	for i, e := range edits {
		switch n := strings.Count(text, e.Old); {
		case n == 0:
			return "", nil, domain.Fail(common.InvalidParams, fmt.Sprintf("edits[%d].old: does not occur in the file; nothing was changed", i), nil,
				candor.WithSuggestion("Read the file and copy the text exactly as it is there, with its spaces and line breaks."))
		case n > 1:
			return "", nil, domain.Fail(common.InvalidParams, fmt.Sprintf("edits[%d].old: occurs %d times in the file; nothing was changed", i, n), nil,
				candor.WithSuggestion("Extend old by the text before or after the place, so that it occurs once."))
		}
		lines = append(lines, 1+strings.Count(text[:strings.Index(text, e.Old)], "\n"))
		text = strings.Replace(text, e.Old, e.New, 1)
	}
	return text, lines, nil
}
