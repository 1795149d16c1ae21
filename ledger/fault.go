package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/candor-mcp/candor"
)

// logFailed says that an entry could not be recorded. An error of the contract that err holds already stands for all of it. nil stays nil.
func logFailed(err error) error { return fault(candor.CodeLedgerFailed, err) }

// lockFailed says that a lock did not come in time.
func lockFailed(err error) error { return fault(candor.CodeLedgerLocked, err) }

func fault(code candor.Code, err error) error {
	if err == nil {
		return nil
	}
	if coded := (*candor.Error)(nil); errors.As(err, &coded) {
		return coded
	}
	return candor.New(code, "", candor.WithCause(err), candor.WithOrigin(candor.PartyServer, false))
}

var (
	errClosed  = fmt.Errorf("the ledger is closed: %w", fs.ErrClosed)
	errNoSpace = fmt.Errorf("the disk is full: %w", syscall.ENOSPC)
)

// isFull reports whether err says that there is no room.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, errQuota) }
