package session

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
)

// Salvage has the readable events of a session, regardless of its health.
type Salvage struct {
	Health Health `json:"health"`
	// Sound has the events at the beginning that are unchanged.
	Sound []Event `json:"sound"`
	// Doubtful has events that can be read but not verified.
	Doubtful []Doubtful `json:"doubtful,omitempty"`
	// Omitted is the number of doubtful events beyond the limit of the list.
	Omitted int `json:"omitted,omitempty"`
}

// Doubtful is an event of a damaged or unattested segment.
type Doubtful struct {
	Segment string `json:"segment"`
	Event   Event  `json:"event"`
}

// maxSalvaged limits the number of doubtful events that are returned.
const maxSalvaged = 10_000

// Salvage reads the readable events of a session. It changes nothing.
func (s *Store[S]) Salvage(id string) (*Salvage, error) {
	f, err := s.openFolder(id)
	if err != nil {
		return nil, err
	}
	defer f.root.Close() //nolint:errcheck // it was only read
	out := &Salvage{Sound: []Event{}}
	_, h, err := f.scan(func(e Event) error {
		out.Sound = append(out.Sound, e)
		return nil
	})
	if err == nil && h.Kind != Healthy && s.removed(id) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	out.Health = h
	if h.Kind == Healthy && h.Unattested == 0 {
		return out, nil
	}
	out.Doubtful, out.Omitted, err = f.doubtful(h.Events)
	return out, err
}

// doubtful returns the readable events after the sound ones, from all files that look like segments.
func (f *folder) doubtful(sound uint64) (found []Doubtful, omitted int, err error) {
	entries, err := fs.ReadDir(f.root.FS(), eventsName)
	if err != nil {
		return nil, 0, ignoreMissing(err)
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !strings.HasSuffix(entry.Name(), ".jsonl") {
			continue
		}
		name := eventsName + "/" + entry.Name()
		data, err := f.readRegular(name, 0, maxSegment)
		if errors.Is(err, ErrTooLarge) {
			continue
		}
		if err != nil {
			return found, omitted, err
		}
		for line := range bytes.Lines(data) {
			var e Event
			switch {
			case decodeEvent(line, &e) != nil || e.Index <= sound:
			case len(found) == maxSalvaged:
				omitted++
			default:
				found = append(found, Doubtful{name, e})
			}
		}
	}
	return found, omitted, nil
}
