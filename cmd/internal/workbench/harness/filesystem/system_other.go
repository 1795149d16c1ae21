//go:build !unix

package filesystem

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/internal/oserror"
)

// explainSystem is [explain] for errors without a portable name. An error that is not listed is sent to the client as
// INTERNAL_ERROR.
func explainSystem(err error) error {
	if oserror.IsFull(err) {
		return domain.Fail(candor.CodeDiskFull, "nothing was changed", err)
	}
	return err
}
