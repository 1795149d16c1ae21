package ledger

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// compress replaces a closed segment by its gzip form. At every moment at least one whole copy has its name: the packed one is durable before it
// gets its name, and has its name durably before the plain one goes.
func compressSegment(s storage, chain string, n int, stop func() bool) error {
	plain := chain + "/" + closedSegment(n)
	packed := plain + gzipEnd
	aside := packed + ".new"
	if err := remove(s, aside); err != nil {
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
		return errors.Join(fmt.Errorf("compressing %s: %w", plain, err), remove(s, aside))
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

// pack writes the gzip form of a segment in small steps, so that closing a ledger need not wait for all of it.
func pack(out io.Writer, s storage, name string, stop func() bool) error {
	buffered := bufio.NewWriterSize(out, 64<<10)
	packer := gzip.NewWriter(buffered)
	in := &storageReader{storage: s, name: name}
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
