package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/candor-mcp/candor/cmd/internal/fleet/ship"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/ledger/verify"
)

// ledgerFolder is the folder of the ledger.
type ledgerFolder struct {
	named  string // folder or URL; "" for the default
	dir    string
	err    error          // why there is no folder name
	off    bool           // failures are not recorded
	found  bool           // only a file of the current folder names it
	exists bool           // dir is a folder
	nearby string         // dir, or the nearest folder above it that exists; "" if there is none
	report *verify.Report // set by recordCheck
}

// otherFolder is the next step for a folder that cannot be used.
const otherFolder = "name a folder that can be written with --ledger or " + ledgerconfig.EnvLedger

func (e *examination) findLedger() ledgerFolder {
	l := ledgerFolder{named: e.Ledger}
	if l.named == "" && e.config.file != nil {
		l.named = e.config.file.Ledger
		l.found = e.Found && l.named != ""
	}
	l.named = cmp.Or(l.named, e.Getenv(ledgerconfig.EnvLedger))
	if l.dir, _, l.err = ship.Locate(l.named, func() (string, error) { return ledgerconfig.DefaultFolder(e.Getenv) }); l.err != nil {
		return l
	}
	if l.dir == ledgerconfig.NoLedger {
		l.off = true
		return l
	}
	if full, err := filepath.Abs(l.dir); err == nil {
		l.dir = full
	}
	for above := l.dir; ; above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil {
			if info.IsDir() {
				l.nearby, l.exists = above, above == l.dir
			}
			return l
		}
		if above == filepath.Dir(above) {
			return l
		}
	}
}

func (e *examination) folderCheck(context.Context) []Finding {
	l := &e.ledger
	switch {
	case l.err != nil && l.named != "":
		return one(failed("ledger-no-folder", "the ledger cannot be used: "+cause(l.err), otherFolder))
	case l.err != nil:
		return one(failed("ledger-no-folder", "there is no folder for the ledger: neither XDG_STATE_HOME nor HOME is set", otherFolder))
	case l.off:
		return one(warning("ledger-off", "failures are not recorded: the ledger is none", "leave out none to record them"))
	case l.nearby == "":
		return one(failed("ledger-not-a-folder", l.dir+" is not a folder, or is below a file", otherFolder))
	case !l.exists:
		return one(ok(l.dir + " does not exist yet; the first start creates it"))
	}
	return one(ok("the ledger is in " + l.dir))
}

// noFolder returns the finding of a check that needs an existing folder, if there is none.
func (l *ledgerFolder) noFolder() ([]Finding, bool) {
	if l.exists {
		return nil, false
	}
	return one(skipped("there is no ledger yet")), true
}

// writableCheck creates a file and removes it again. A mode is not enough: a disk may be mounted read-only.
func (e *examination) writableCheck(context.Context) []Finding {
	l := &e.ledger
	switch {
	case l.nearby == "":
		return one(skipped("there is no folder for the ledger"))
	case l.found: // nothing is written to a folder that someone else has chosen
		return one(skipped("not tried: " + FoundHere).about(l.dir))
	}
	f, err := os.CreateTemp(l.nearby, ".candor-doctor-*")
	if err == nil {
		_, err = io.WriteString(f, "test\n")
		err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
	}
	switch {
	case err != nil && l.exists:
		return one(failed("ledger-read-only", fmt.Sprintf("no file can be written in %s: %s", l.nearby, cause(err)), "correct the permissions of the folder, or "+otherFolder))
	case err != nil:
		return one(failed("ledger-read-only", fmt.Sprintf("%s cannot be created: no file can be written in %s: %s", l.dir, l.nearby, cause(err)), otherFolder))
	}
	return one(ok("files can be written in " + l.nearby))
}

// cause returns the text of an error without the path, which the sentence already has.
func cause(err error) string {
	if inner, isPath := errors.AsType[*fs.PathError](err); isPath {
		return inner.Err.Error()
	}
	return err.Error()
}

func (e *examination) privateCheck(context.Context) []Finding {
	if none, is := e.ledger.noFolder(); is {
		return none
	}
	if runtime.GOOS == "windows" {
		return one(skipped("Windows has no permission bits; access to the folder follows that of the user's profile"))
	}
	dir := e.ledger.dir
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o077 != 0 {
		return one(failed("ledger-public", fmt.Sprintf("other users may use the ledger: %s has mode %04o", dir, info.Mode().Perm()), "chmod 700 "+dir))
	}
	for _, name := range []string{"signer.key", "digest.key"} {
		key := filepath.Join(dir, "keys", name)
		if info, err := os.Stat(key); err == nil && info.Mode().Perm()&0o077 != 0 {
			return one(failed("key-public", fmt.Sprintf("other users may read the private key %s, mode %04o", key, info.Mode().Perm()),
				"chmod 600 "+key+", then candor ledger key rotate "+dir))
		}
	}
	return one(ok("only this user may read the ledger and its keys"))
}

// leastFree is the free space below which a ledger cannot be written for long.
const leastFree = 16 << 20

func (e *examination) diskCheck(context.Context) []Finding {
	if e.ledger.nearby == "" {
		return one(skipped("there is no folder for the ledger"))
	}
	free, err := FreeBytes(e.ledger.nearby)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return one(skipped("free space cannot be measured on this system"))
	case err != nil:
		return one(failed("disk-unknown", "the disk of the ledger cannot be examined: "+err.Error(), otherFolder))
	case free < leastFree:
		return one(failed("disk-full", "the disk of the ledger is full: "+size(free)+" free", "free some space; when an entry cannot be written, the call fails"))
	case free < uint64(max(0, e.MinFree)): //nolint:gosec // not negative
		return one(warning("disk-low", fmt.Sprintf("the disk of the ledger has %s free, less than %s", size(free), size(uint64(e.MinFree))), //nolint:gosec // not negative here
			"free some space, or limit the ledger with --ledger-keep-age or --ledger-keep-bytes"))
	}
	return one(ok(size(free) + " free"))
}

func size(n uint64) string {
	for _, unit := range []struct {
		name string
		size uint64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
