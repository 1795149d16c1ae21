package filestore

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

func folder(chain fleet.Chain) string { return chain.Node + "/" + chain.Name }

const (
	activeFile  = "audit-log.jsonl"
	closedStart = "audit-log."
	closedEnd   = ".jsonl"
	packedEnd   = ".gz"
)

func activeName(chain fleet.Chain) string { return folder(chain) + "/" + activeFile }

func closedName(chain fleet.Chain, number int) string {
	return fmt.Sprintf("%s/%s%06d%s", folder(chain), closedStart, number, closedEnd)
}

// segmentFiles are the files of a chain.
type segmentFiles struct {
	closed []closedSegment // by number
	active os.FileInfo     // nil if there is none
}

// newest returns the number of the last closed segment, or 0.
func (f *segmentFiles) newest() int {
	if len(f.closed) == 0 {
		return 0
	}
	return f.closed[len(f.closed)-1].number
}

type closedSegment struct {
	number int
	name   string // below the store's folder
	packed bool   // compressed
}

// segments lists the segments of a chain.
func segments(root *os.Root, chain fleet.Chain) (segmentFiles, error) {
	items, err := fs.ReadDir(root.FS(), folder(chain))
	if err != nil {
		return segmentFiles{}, err
	}
	var files segmentFiles
	for _, item := range items {
		if item.Name() == activeFile {
			info, err := item.Info()
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have been renamed since
				return segmentFiles{}, err
			}
			files.active = info
		} else if number, packed := segmentNumber(item.Name()); number > 0 {
			files.closed = append(files.closed, closedSegment{number: number, name: folder(chain) + "/" + item.Name(), packed: packed})
		}
	}
	// While a segment is compressed it exists in both forms; the plain one is listed first and used.
	slices.SortFunc(files.closed, func(a, b closedSegment) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	})
	files.closed = slices.CompactFunc(files.closed, func(a, b closedSegment) bool { return a.number == b.number })
	return files, nil
}

// segmentNumber returns the number in the name of a closed segment, or 0.
func segmentNumber(name string) (number int, packed bool) {
	name, packed = strings.CutSuffix(name, packedEnd)
	digits, ok := strings.CutPrefix(name, closedStart)
	digits, isSegment := strings.CutSuffix(digits, closedEnd)
	number, err := strconv.Atoi(digits)
	if err != nil || !ok || !isSegment || number < 0 || fmt.Sprintf("%06d", number) != digits {
		return 0, false
	}
	return number, packed
}

// openRegular opens a file. Opening a pipe would block.
func openRegular(root *os.Root, name string, flag int) (*os.File, error) {
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, err
	}
	return root.OpenFile(name, flag, 0)
}

// eachLine calls use with the lines of a segment until it returns false.
func eachLine(root *os.Root, file closedSegment, use func(line []byte, end int64) bool) error {
	f, err := openRegular(root, file.name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	return linesOf(f, file, 0, use)
}

// linesOf calls use with the whole lines of an open segment that begin at or after an offset, and with the offset after each line, until
// it returns false.
func linesOf(f *os.File, file closedSegment, from int64, use func(line []byte, end int64) bool) error {
	var in io.Reader = f
	_, err := f.Seek(0, io.SeekStart)
	if file.packed && err == nil {
		if in, err = gzip.NewReader(f); err != nil {
			return damaged(file.name, err)
		}
		_, err = io.CopyN(io.Discard, in, from)
	} else if err == nil {
		_, err = f.Seek(from, io.SeekStart)
	}
	if err != nil {
		return err
	}
	return readLines(in, file.name, from, use)
}

// readLines splits a stream into lines. It ignores half a line at the end, which is being written or was left by a crash.
func readLines(in io.Reader, name string, at int64, use func(line []byte, end int64) bool) error {
	buffered := bufio.NewReaderSize(in, 64<<10)
	var long []byte
	for {
		part, err := buffered.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, part...); len(long) > fleet.MaxLine {
				return damaged(name, fmt.Errorf("a line has more than %d bytes", fleet.MaxLine))
			}
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damaged(name, err)
		}
		if len(long) > 0 {
			long = append(long, part...)
			part = long
		}
		at += int64(len(part))
		if !use(part[:len(part)-1], at) {
			return nil
		}
		long = long[:0]
	}
}

func damaged(name string, err error) error {
	err = fmt.Errorf("%s: %w", name, err)
	return candor.New(candor.CodeDataCorrupt, err.Error(), candor.WithCause(err), candor.WithOrigin(candor.PartyServer, false))
}

// firstNumber returns the number of the first entry of a segment, or 0 if its first line is not an entry.
func firstNumber(root *os.Root, file closedSegment) (uint64, error) {
	f, err := openRegular(root, file.name, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // only read
	return firstIn(f, file)
}

func firstIn(f *os.File, file closedSegment) (uint64, error) {
	var number uint64
	err := linesOf(f, file, 0, func(line []byte, _ int64) bool {
		if entry, err := ledger.ParseLine(line); err == nil {
			number = entry.Seq
		}
		return false
	})
	return number, err
}
