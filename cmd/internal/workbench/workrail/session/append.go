package session

import (
	"errors"
	"os"
	"path"
	"time"

	"github.com/candor-mcp/candor/internal/durable"
)

// add makes records durable after the events of m, and returns them as events. After an error nothing was added, unless
// the disk did not allow undoing it; the caller must then read the session again.
func (f *folder) add(m *manifest, records []Record, now time.Time) ([]Event, error) {
	segment, events, err := encodeEvents(records, m.last(), now)
	if err != nil {
		return nil, err
	}
	if m.last()+uint64(len(events)) > maxEvents {
		return nil, ErrTooLarge
	}
	line := m.next(segment, len(events))
	if err := f.moveAside(segmentName(line.First, line.Last)); err != nil {
		return nil, err
	}
	if err := durable.WriteFile(f.root, segmentName(line.First, line.Last), segment, 0o600); err != nil {
		return nil, err
	}
	if err := f.addLine(m, line.encode()); err != nil {
		return nil, err
	}
	return events, nil
}

// moveAside moves a segment that is not in the manifest to the orphans, so that the next segment can have its name.
func (f *folder) moveAside(name string) error {
	if _, err := f.root.Lstat(name); err != nil {
		return ignoreMissing(err)
	}
	if err := f.root.Mkdir(orphansName, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return f.root.Rename(name, path.Join(orphansName, path.Base(name)+"."+time.Now().UTC().Format("20060102T150405.000000000")))
}

// addLine appends a line to the manifest and makes it durable.
func (f *folder) addLine(m *manifest, line []byte) error {
	file, err := f.root.OpenFile(manifestName, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = writeAt(file, line, m.size)
	if err != nil { // a failed sync is not repeated for the same bytes
		err = errors.Join(err, file.Truncate(m.size))
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if reason := m.add(line); reason != nil {
		return errors.New(reason.Message)
	}
	return nil
}

// writeAt replaces everything from an offset on. The replaced bytes are the beginning of a line whose writer crashed,
// or empty.
func writeAt(file *os.File, line []byte, offset int64) error {
	if err := file.Truncate(offset); err != nil {
		return err
	}
	if _, err := file.WriteAt(line, offset); err != nil {
		return err
	}
	return durable.SyncData(file)
}
