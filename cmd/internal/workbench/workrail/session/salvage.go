package session

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
)

// Salvage is what can be read of a session, whatever its health.
type Salvage struct {
	Health Health `json:"health"`
	// Sound holds the events that are as they were written, from the first on.
	Sound []Event `json:"sound"`
	// Doubtful holds events that can be read and that nothing vouches for.
	Doubtful []Doubtful `json:"doubtful,omitempty"`
	// Omitted is how many doubtful events are not in the list, because there are too many.
	Omitted int `json:"omitted,omitempty"`
}

// Doubtful is an event of a damaged or unattested segment.
type Doubtful struct {
	Segment string `json:"segment"`
	Event   Event  `json:"event"`
}

// maxSalvaged bounds what is returned of a damaged session.
const maxSalvaged = 10_000

// Salvage reads what is left of a session. It changes nothing.
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

// doubtful returns the readable events behind the sound ones, of all files that look like segments.
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
