package ledger

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// upkeepEvery is the interval between rounds that are not requested.
const upkeepEvery = time.Hour

// upkeep compresses and removes closed segments on a separate goroutine.
type upkeep struct {
	ledger *Ledger
	wake   chan struct{}
	ctx    context.Context //nolint:containedctx // ends with the ledger
	quit   context.CancelFunc
	done   sync.WaitGroup
}

func newUpkeep(l *Ledger) *upkeep {
	u := &upkeep{ledger: l, wake: make(chan struct{}, 1)}
	u.ctx, u.quit = context.WithCancel(context.Background())
	return u
}

// start starts the goroutine. It does a round at once for the segments of earlier processes, even if the ledger is closed meanwhile, so
// that short sessions also remove old segments.
func (u *upkeep) start() {
	o := &u.ledger.options
	if !o.Compress && o.keepsAll() {
		return
	}
	u.done.Go(func() {
		tick := time.NewTicker(upkeepEvery)
		defer tick.Stop()
		for {
			if err := u.work(); err != nil {
				u.ledger.warner.warn(warningUpkeep, "compressing or removing old segments failed", err)
			}
			select {
			case <-u.ctx.Done():
				return
			case <-tick.C:
			case <-u.wake:
			}
		}
	})
}

// ring requests a round.
func (u *upkeep) ring() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// stop ends the goroutine and waits for it. A round that removes segments is finished. If a file is being compressed, compression is
// abandoned and the next round starts it again.
func (u *upkeep) stop() {
	u.quit()
	u.done.Wait()
}

// compressSegment replaces a closed segment by its gzip form. At least one complete file has its final name at any
// time: the compressed file is durable before it is renamed, and the rename is durable before the plain file is
// removed.
func compressSegment(ctx context.Context, s storage.Storage, chain, plain string) error {
	packed := plain + format.GzipSuffix
	aside := packed + storage.AsideSuffix
	if err := storage.Remove(s, aside); err != nil {
		return fmt.Errorf("compressing %s: %w", plain, err)
	}
	f, err := s.Create(aside, 0o600)
	if err != nil {
		return fmt.Errorf("compressing %s: %w", plain, err)
	}
	err = pack(ctx, f, s, plain)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("compressing %s: %w", plain, err), storage.Remove(s, aside))
	}
	// The writer may have renamed the plain file and not yet synced the folder. If a crash undid that, its entries would be there twice.
	if err := s.SyncDir(chain); err != nil {
		return fmt.Errorf("compressing %s: %w", plain, err)
	}
	if err := errors.Join(s.Rename(aside, packed), s.SyncDir(chain)); err != nil {
		return fmt.Errorf("compressing %s: %w", plain, err)
	}
	if err := errors.Join(s.Remove(plain), s.SyncDir(chain)); err != nil {
		return fmt.Errorf("removing %s: %w", plain, err)
	}
	return nil
}

// pack writes the gzip form of a segment in small steps, so that closing a ledger need not wait until it is complete.
func pack(ctx context.Context, out io.Writer, s storage.Storage, name string) error {
	buffered := bufio.NewWriterSize(out, 64<<10)
	packer := gzip.NewWriter(buffered)
	in, err := storage.OpenAt(s.Files(), name, 0)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	chunk := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return err
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
