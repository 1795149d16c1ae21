package ledger

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// upkeepEvery is the interval between rounds that are not requested.
const upkeepEvery = time.Hour

// upkeep compresses and removes closed segments on a separate goroutine.
type upkeep struct {
	ledger *Ledger
	wake   chan struct{}
	quit   chan struct{}
	done   sync.WaitGroup
}

func newUpkeep(l *Ledger) *upkeep {
	return &upkeep{ledger: l, wake: make(chan struct{}, 1), quit: make(chan struct{})}
}

// start starts the goroutine, which begins with a round for the segments of earlier processes.
func (u *upkeep) start() {
	o := &u.ledger.options
	if !o.Compress && o.keepsAll() {
		return
	}
	u.done.Go(u.run)
}

// run does a round at once, even if the ledger is closed meanwhile, so that short sessions also remove old segments.
func (u *upkeep) run() {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	for {
		if err := u.work(); err != nil {
			u.ledger.warner.warn(warningUpkeep, "looking after old segments failed", err)
		}
		select {
		case <-u.quit:
			return
		case <-tick.C:
		case <-u.wake:
		}
	}
}

// ring requests a round.
func (u *upkeep) ring() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// stop ends the goroutine and waits for it. A round that removes segments is finished. If a file is being compressed, compression is abandoned and the next
// round starts it again.
func (u *upkeep) stop() {
	close(u.quit)
	u.done.Wait()
}

func (u *upkeep) stopping() bool {
	select {
	case <-u.quit:
		return true
	default:
		return false
	}
}

// compressSegment replaces a closed segment by its gzip form. At least one complete file has its final name at any
// time: the compressed file is durable before it is renamed, and the rename is durable before the plain file is
// removed.
func compressSegment(s storage.Storage, chain, plain string, stop func() bool) error {
	packed := plain + format.GzipSuffix
	aside := packed + storage.AsideSuffix
	if err := storage.Remove(s, aside); err != nil {
		return fmt.Errorf("compressing %s: %w", plain, err)
	}
	f, err := s.Create(aside, 0o600)
	if err != nil {
		return fmt.Errorf("compressing %s: %w", plain, err)
	}
	err = pack(f, s, plain, stop)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("compressing %s: %w", plain, err), storage.Remove(s, aside))
	}
	if err := errors.Join(s.Rename(aside, packed), s.SyncDir(chain)); err != nil {
		return fmt.Errorf("compressing %s: %w", plain, err)
	}
	if err := errors.Join(s.Remove(plain), s.SyncDir(chain)); err != nil {
		return fmt.Errorf("removing %s: %w", plain, err)
	}
	return nil
}

var errStopped = errors.New("stopped")

// pack writes the gzip form of a segment in small steps, so that closing a ledger need not wait until it is complete.
func pack(out io.Writer, s storage.Storage, name string, stop func() bool) error {
	buffered := bufio.NewWriterSize(out, 64<<10)
	packer := gzip.NewWriter(buffered)
	in, err := storage.OpenAt(s.Files(), name, 0)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	chunk := make([]byte, 256<<10)
	for {
		if stop() {
			return errStopped
		}
		n, err := in.Read(chunk)
		if _, failed := packer.Write(chunk[:n]); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return errors.Join(packer.Close(), buffered.Flush())
		}
		if err != nil {
			return err
		}
	}
}
