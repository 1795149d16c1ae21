package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// maxVerify bounds the time of the verification; a large ledger takes longer, and then the check is skipped.
const maxVerify = 10 * time.Second

// recordCheck verifies the ledger. It stores the report for the checks after it.
func (e *examination) recordCheck(ctx context.Context) []Finding {
	if none, is := e.ledger.noFolder(); is {
		return none
	}
	limited, cancel := context.WithTimeout(ctx, maxVerify)
	defer cancel()
	dir := e.ledger.dir
	report, err := verify.Dir(limited, dir, verify.Options{OwnWitnessCopies: ledgerconfig.WitnessCopies(dir, e.Getenv)})
	switch {
	case errors.Is(err, verify.ErrNoLedger):
		return one(skipped("nothing was recorded yet"))
	case limited.Err() != nil:
		return one(skipped("the ledger is too large to be verified here within " + maxVerify.String() + "; run candor ledger verify " + dir))
	case err != nil:
		return one(failed("ledger-unreadable", "the ledger cannot be read: "+cause(err), "check the permissions of "+dir))
	}
	e.ledger.report = &report
	switch {
	case !report.OK:
		return one(failed("ledger-damaged", "the ledger was changed or is damaged: "+damageWords(&report), "candor ledger verify "+dir+" shows where; keep a copy of the folder before anything else"))
	case len(report.UnreadWitnessCopies) > 0:
		return one(warning("witness-copy-unreadable", "the second file of checkpoints cannot be read: "+report.UnreadWitnessCopies[0], "restore the file, or check its permissions"))
	case len(report.Chains) > 0 && len(report.WitnessCopies) == 0:
		return one(warning("no-witness-copy", "checkpoints are kept only beside the entries, so that an older copy of the folder is not noticed",
			"do not write with --witness-copy none, nor with "+ledgerconfig.EnvWitnessCopy+"=none"))
	}
	return one(ok(fmt.Sprintf("%s verified, in %s", plural.Count(int(report.Entries), "entry", "entries"), plural.Count(len(report.Chains), "chain", "chains")))) //nolint:gosec // a count
}

func damageWords(r *verify.Report) string {
	if len(r.Damage) == 0 {
		return "see candor ledger verify"
	}
	return r.Damage[0].String()
}

// keyCheck compares the public key of the ledger with a copy that was kept elsewhere.
func (e *examination) keyCheck(context.Context) []Finding {
	if none, is := e.ledger.noFolder(); is {
		return none
	}
	keys, err := ledger.PublicKeys(e.ledger.dir)
	if err != nil || len(keys) == 0 {
		return one(skipped("the ledger has no key yet"))
	}
	export := "candor ledger key export " + e.ledger.dir + " --out FILE, with a FILE on another disk or machine, and then candor doctor --key FILE"
	if e.Keys == "" {
		return one(warning("key-only-here", "no copy of the ledger's public key was given, and a key that is only beside the entries proves less", export))
	}
	data, err := os.ReadFile(e.Keys)
	if err != nil {
		return one(failed("key-copy-unreadable", "the copy of the public key cannot be read: "+err.Error(), export))
	}
	if inside(e.Keys, e.ledger.dir) {
		return one(warning("key-only-here", e.Keys+" is inside the folder of the ledger", export))
	}
	if !slices.Contains(strings.Fields(string(data)), keys[0]) {
		return one(failed("key-differs", "the ledger is signed with a key that is not in "+e.Keys,
			"if the key was rotated on purpose, export it again; otherwise the ledger was replaced: candor ledger verify --key "+e.Keys))
	}
	return one(ok("the public key of the ledger is also in " + e.Keys))
}

// inside reports whether a file is below a folder.
func inside(file, dir string) bool {
	full, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, full)
	return err == nil && filepath.IsLocal(rel)
}
