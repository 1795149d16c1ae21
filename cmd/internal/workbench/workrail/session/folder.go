package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/candor-mcp/candor/internal/durable"
)

// folder is the open directory of one session.
type folder struct {
	id   string
	root *os.Root
}

// ReadRegular reads a regular file of at most limit bytes. It refuses other files with [ErrNotRegular], because reading
// a pipe would block, and larger ones with [ErrTooLarge].
func ReadRegular(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	err = errors.Join(err, file.Close())
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	return data, err
}

// readManifest reads the manifest.
func (f *folder) readManifest(m *manifest) (*Reason, error) {
	data, err := ReadRegular(f.root, manifestName, maxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return invalid("the manifest is missing"), nil
	case errors.Is(err, ErrNotRegular), errors.Is(err, ErrTooLarge):
		return invalid("the manifest is not a file of this store"), nil
	case err != nil:
		return nil, err
	}
	reason := m.read(data)
	if reason == nil && len(m.lines) == 0 { // a session is renamed to its id after its first line is written
		reason = invalid("the manifest is empty")
	}
	return reason, nil
}

// readSegment reads the events of the segment in a manifest line.
func (f *folder) readSegment(l *manifestLine) ([]Event, *Reason, error) {
	name := segmentName(l.First, l.Last)
	data, err := ReadRegular(f.root, name, maxSegment)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // the latter if the directory was replaced by a file
		return nil, &Reason{MissingSegment, name + " is missing"}, nil
	case errors.Is(err, ErrNotRegular), errors.Is(err, ErrTooLarge):
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

// contents is what was read of a session.
type contents struct {
	manifest manifest
	events   []Event // the sound ones at the beginning
	health   Health
}

// read reads a whole session, up to the first defect.
func (f *folder) read() (c contents, err error) {
	c.manifest = newManifest(f.id)
	present, err := f.segments() // before the manifest: segments that another process adds meanwhile are in the manifest, or are being written
	if err != nil {
		return c, err
	}
	wrong, err := f.readManifest(&c.manifest)
	if err != nil {
		return c, err
	}
	for i := range c.manifest.lines {
		events, reason, err := f.readSegment(&c.manifest.lines[i])
		if err != nil {
			return c, err
		}
		if c.events = append(c.events, events...); reason != nil {
			c.health = healthOf(reason, len(c.events))
			return c, nil
		}
	}
	left := 0
	if wrong == nil {
		orphans := c.manifest.unattested(present)
		if left = len(orphans); left > 1 { // a crash leaves at most one
			wrong = &Reason{NonContiguous, fmt.Sprintf("%d segments from %s on have no line in the manifest", left, orphans[0])}
		}
	}
	c.health = healthOf(wrong, len(c.events))
	c.health.Unattested = left
	return c, nil
}

// segments returns the names of all segments, sorted.
func (f *folder) segments() ([]string, error) {
	dir, err := f.root.Open(eventsName)
	if err != nil {
		return nil, durable.IgnoreMissing(err)
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
	// A crash may have left a segment of this name, which is replaced.
	if err := durable.WriteFile(f.root, segmentName(line.First, line.Last), segment, 0o600); err != nil {
		return nil, err
	}
	if err := f.addLine(m, line.encode()); err != nil {
		return nil, err
	}
	return events, nil
}

// addLine appends a line to the manifest and makes it durable. It replaces what follows the last complete line: the
// beginning of a line after a crash of its writer, or nothing.
func (f *folder) addLine(m *manifest, line []byte) error {
	file, err := f.root.OpenFile(manifestName, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err = file.Truncate(m.size); err == nil {
		_, err = file.WriteAt(line, m.size)
	}
	if err == nil {
		err = durable.SyncData(file)
	}
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

// manifestLine makes a segment part of the session.
type manifestLine struct {
	Version int    `json:"v"`
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	Bytes   int    `json:"bytes"`
	SHA256  string `json:"sha256"`
	Before  string `json:"before"` // hash of the line before; for the first line, of the session's id
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// segmentName returns the file name of the segment with events first to last, relative to the session's directory.
func segmentName(first, last uint64) string {
	return fmt.Sprintf("%s/%08d-%08d.jsonl", eventsName, first, last)
}

// manifest is the part of a manifest that was read.
type manifest struct {
	lines []manifestLine
	size  int64  // size of the complete lines in bytes
	hash  string // of the last line
}

func newManifest(id string) manifest { return manifest{hash: hashOf([]byte(id))} }

func (m *manifest) last() uint64 {
	if len(m.lines) == 0 {
		return 0
	}
	return m.lines[len(m.lines)-1].Last
}

// read adds the complete lines of data, which follow the lines that were read before. A line without its newline was
// being written when the writer crashed, and is ignored.
func (m *manifest) read(data []byte) *Reason {
	for line := range bytes.Lines(data) {
		if line[len(line)-1] != '\n' {
			return unfinished(line, len(m.lines)+1)
		}
		if reason := m.add(line); reason != nil {
			return reason
		}
	}
	return nil
}

// unfinished checks a line without its newline. A crash leaves the beginning of a line, never more than a whole line.
func unfinished(rest []byte, number int) *Reason {
	d := json.NewDecoder(bytes.NewReader(rest))
	var l manifestLine
	if d.Decode(&l) == nil && d.InputOffset() < int64(len(rest)) {
		return invalid("line %d of the manifest does not end", number)
	}
	return nil
}

func (m *manifest) add(line []byte) *Reason {
	number := len(m.lines) + 1
	if reason := knownVersion(line); reason != nil {
		return reason
	}
	var l manifestLine
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil || l.Version != schemaVersion || l.Bytes <= 0 || l.Bytes > maxSegment || l.Last > maxEvents {
		return invalid("line %d of the manifest is not valid", number)
	}
	if l.First != m.last()+1 || l.Last < l.First {
		return &Reason{NonContiguous, fmt.Sprintf("line %d of the manifest has the events %d to %d, want them from %d on", number, l.First, l.Last, m.last()+1)}
	}
	if l.Before != m.hash {
		return &Reason{DigestMismatch, fmt.Sprintf("line %d of the manifest does not follow the line before it", number)}
	}
	if canonical := l.encode(); !bytes.Equal(canonical, line) {
		return invalid("line %d of the manifest is not as it was written", number)
	}
	m.lines = append(m.lines, l)
	m.size += int64(len(line))
	m.hash = hashOf(line)
	return nil
}

func (l *manifestLine) encode() []byte {
	b, _ := json.Marshal(l) // numbers and strings only
	return append(b, '\n')
}

// next returns the line for the segment after the last one.
func (m *manifest) next(segment []byte, events int) manifestLine {
	first := m.last() + 1
	last := first + uint64(events) - 1 //nolint:gosec // a length
	return manifestLine{Version: schemaVersion, First: first, Last: last, Bytes: len(segment), SHA256: hashOf(segment), Before: m.hash}
}

// unattested returns the segments that are not in the manifest.
func (m *manifest) unattested(segments []string) []string {
	known := make(map[string]bool, len(m.lines))
	for _, l := range m.lines {
		known[segmentName(l.First, l.Last)] = true
	}
	return slices.DeleteFunc(segments, func(name string) bool { return known[name] })
}

// Salvage has the readable events of a session, regardless of its health.
type Salvage struct {
	Health Health `json:"health"`
	// Sound has the events at the beginning that are unchanged.
	Sound []Event `json:"sound"`
	// Doubtful has events that can be read but not verified.
	Doubtful []Doubtful `json:"doubtful,omitempty"`
}

// Doubtful is an event of a damaged or unattested segment.
type Doubtful struct {
	Segment string `json:"segment"`
	Event   Event  `json:"event"`
}

// Salvage reads the readable events of a session. It changes nothing.
func (s *Store[S]) Salvage(id string) (*Salvage, error) {
	f, err := s.openFolder(id)
	if err != nil {
		return nil, err
	}
	defer f.root.Close() //nolint:errcheck // it was only read
	c, _, err := s.examine(f)
	if err != nil {
		return nil, err
	}
	out := &Salvage{Health: c.health, Sound: append([]Event{}, c.events...)}
	if c.health.Kind != Healthy || c.health.Unattested > 0 {
		out.Doubtful, err = f.doubtful(c.health.Events)
	}
	return out, err
}

// doubtful returns the readable events after the sound ones, from all files that look like segments.
func (f *folder) doubtful(sound uint64) (found []Doubtful, err error) {
	names, err := f.segments()
	for _, name := range names {
		data, failed := ReadRegular(f.root, name, maxSegment)
		if errors.Is(failed, ErrTooLarge) || errors.Is(failed, ErrNotRegular) {
			continue
		}
		err = errors.Join(err, failed)
		for line := range bytes.Lines(data) {
			var e Event
			if decodeEvent(line, &e) == nil && e.Index > sound {
				found = append(found, Doubtful{name, e})
			}
		}
	}
	return found, err
}
