package domain_test

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	filesystemcode "github.com/candor-mcp/candor/codes/filesystem"
)

// A call that fails because the process has no more descriptors works later, whatever code its domain chose.
func TestScarceResourcesAreRetryable(t *testing.T) {
	t.Parallel()
	scarce, denied := &fs.PathError{Op: "open", Err: syscall.EMFILE}, &fs.PathError{Op: "open", Err: syscall.EACCES}
	for name, c := range map[string]struct {
		err  error
		want candor.Code
	}{
		"without a code": {scarce, candor.CodeUnavailable},
		"with a code":    {domain.Fail(filesystemcode.Denied, "the root folder cannot be opened", scarce), candor.CodeUnavailable},
		"never retried":  {domain.Fail(candor.CodeUnavailable, "", scarce, candor.WithRetry(candor.NoRetry())), candor.CodeUnavailable},
		"another cause":  {domain.Fail(filesystemcode.Denied, "the server has no permission", denied), filesystemcode.Denied},
	} {
		_, err := domain.Bind(func(context.Context, struct{}) (int, error) { return 0, c.err })(t.Context(), nil)
		e, _ := errors.AsType[*candor.Error](err)
		if e.Code() != c.want || e.Retry().Retryable() != (c.want == candor.CodeUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
