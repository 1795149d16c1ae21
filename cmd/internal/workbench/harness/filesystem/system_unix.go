//go:build unix

package filesystem

import (
	"errors"
	"syscall"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	filesystemcode "github.com/candor-mcp/candor/codes/filesystem"
)

// explainSystem is [explain] for errors without a portable name. An error that is not listed is sent to the client as
// INTERNAL_ERROR.
func explainSystem(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return domain.Fail(candor.CodeDiskFull, "nothing was changed", err)
	case errors.Is(err, syscall.ENOTEMPTY):
		return domain.Fail(filesystemcode.Denied, "the folder is not empty", err)
	case errors.Is(err, syscall.EROFS):
		return domain.Fail(filesystemcode.Denied, "the disk is read-only", err)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return domain.Fail(common.InvalidParams, "path: too long for this system", err)
	case errors.Is(err, syscall.ELOOP):
		return domain.Fail(filesystemcode.NotFound, "the symbolic links of the path form a loop", err)
	case errors.Is(err, syscall.EISDIR):
		return domain.Fail(filesystemcode.Denied, "not a regular file", err)
	}
	return err
}
