package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// lockNote is the content of a lock file. It describes the holder only while the lock is held.
type lockNote struct {
	Owner   string `json:"owner"`
	PID     int    `json:"pid"`
	Started string `json:"started"`
	Host    string `json:"host"`
}

func newLockNote(owner string, now time.Time) []byte {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return append(format.MustJSON(lockNote{Owner: owner, PID: os.Getpid(), Started: format.FormatTime(now), Host: host}), '\n')
}

// The names of the lock files. The folder's lock is held briefly; a chain's lock is held as long as its writer runs.
const (
	folderLock = "lock"
	chainLock  = "lock"
)

// lockFolder acquires the folder's lock and waits for at most wait. If it times out, the error names the holder.
func lockFolder(s storage.Storage, wait time.Duration) (unlock func() error, err error) {
	deadline := time.Now().Add(wait)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		unlock, err = s.Lock(folderLock, newLockNote("candor", time.Now()))
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, storage.ErrLocked) {
			return nil, logFailed(fmt.Errorf("locking the folder: %w", err))
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, lockFailed(fmt.Errorf("locking the folder for %v: %w%s", wait, err, holder(s, folderLock)))
		}
		time.Sleep(min(pause, left)) // a file lock has no event
	}
}

// holder describes the holder of a lock for an error message, or returns "".
func holder(s storage.Storage, name string) string {
	b, err := storage.ReadSmall(s.Files(), name, format.MaxKeyFile)
	var n lockNote
	if err != nil || json.Unmarshal(b, &n) != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d on %s since %s)", n.PID, n.Host, n.Started)
}
