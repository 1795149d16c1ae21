package kaiza

import (
	"log/slog"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/plan"
	kaizacode "github.com/candor-mcp/candor/codes/kaiza"
)

// countUse counts a change against an approval that is limited in number. It is called when the journal is on the disk and nothing is changed yet, so
// that after a crash the recovery knows of every use that was counted in vain.
func (k *System) countUse(root, hash, call string) error {
	if hash == "" {
		return nil
	}
	return k.approvals.Use(plan.RootDigest(root), hash, call)
}

// releaseUse takes the use back of a change that came to nothing because of failed. Where the change could not be undone it stays counted.
func (k *System) releaseUse(b recorder, root, hash, call string, failed error) {
	if hash == "" || candor.CodeOf(failed) == kaizacode.InvariantViolation {
		return
	}
	if err := k.approvals.Release(plan.RootDigest(root), hash, call); err != nil {
		b.Logger().Error("a use of an approval stays counted for a change that came to nothing", slog.String("call", call), slog.Any("error", err))
	}
}
