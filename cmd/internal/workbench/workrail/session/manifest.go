package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

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
