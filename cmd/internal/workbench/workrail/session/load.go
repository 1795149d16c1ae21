package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// folder is the open directory of one session.
type folder struct {
	id   string
	root *os.Root
}

// stamp identifies a file that was read, to detect changes.
type stamp struct {
	info fs.FileInfo
	size int64
	time time.Time
}

func (f *folder) stampOf(name string) (stamp, error) { return stampIn(f.root, name) }

func stampIn(root *os.Root, name string) (stamp, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return stamp{}, err
	}
	return stamp{info, info.Size(), info.ModTime()}, nil
}

func sameFile(s, now *stamp) bool { return s.info != nil && os.SameFile(s.info, now.info) }

func (s *stamp) same(now *stamp) bool {
	return sameFile(s, now) && s.size == now.size && s.time.Equal(now.time)
}

// readRegular reads at most limit bytes of a regular file from offset on. It refuses other files, because reading a
// pipe would block.
func (f *folder) readRegular(name string, offset, limit int64) ([]byte, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, errNotRegular)
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.NewSectionReader(file, offset, limit+1))
	err = errors.Join(err, file.Close())
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	return data, err
}

var errNotRegular = errors.New("not a regular file")

// readManifest reads the lines that were added since m was read.
func (f *folder) readManifest(m *manifest) (*Reason, error) {
	data, err := f.readRegular(manifestName, m.size, maxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return invalid("the manifest is missing"), nil
	case errors.Is(err, errNotRegular), errors.Is(err, ErrTooLarge):
		return invalid("the manifest is not a file of this store"), nil
	case err != nil:
		return nil, err
	}
	if reason := m.read(data); reason != nil {
		return reason, nil
	}
	if len(m.lines) == 0 { // a session is renamed to its id after its first line is written
		return invalid("the manifest is empty"), nil
	}
	return nil, nil //nolint:nilnil // the manifest is sound
}

// readSegment reads the events of the segment in a manifest line.
func (f *folder) readSegment(l *manifestLine) ([]Event, *Reason, error) {
	name := segmentName(l.First, l.Last)
	data, err := f.readRegular(name, 0, maxSegment)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // the latter if the directory was replaced by a file
		return nil, &Reason{MissingSegment, name + " is missing"}, nil
	case errors.Is(err, errNotRegular), errors.Is(err, ErrTooLarge):
		return nil, &Reason{DigestMismatch, name + " is not the file that was written"}, nil
	case err != nil:
		return nil, nil, err
	}
	if line, _, ok := strings.Cut(string(data), "\n"); ok {
		if reason := knownVersion([]byte(line)); reason != nil {
			reason.Message = name + ": " + reason.Message
			return nil, reason, nil
		}
	}
	if len(data) != l.Bytes || hashOf(data) != l.SHA256 {
		return nil, &Reason{DigestMismatch, name + " is not as it was written"}, nil
	}
	events, reason := decodeEvents(data, l.First, l.Last)
	return events, reason, nil
}

// segments returns the names of all segments, sorted.
func (f *folder) segments() ([]string, error) {
	dir, err := f.root.Open(eventsName)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	names, err := dir.Readdirnames(-1)
	err = errors.Join(err, dir.Close())
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, nil // the segments are missing, which readSegment reports
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if strings.HasSuffix(name, ".jsonl") {
			found = append(found, eventsName+"/"+name)
		}
	}
	slices.Sort(found)
	return found, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
