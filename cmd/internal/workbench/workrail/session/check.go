package session

import "fmt"

// scan reads a whole session and passes its events to visit, in order, up to the first defect.
func (f *folder) scan(visit func(Event) error) (manifest, Health, error) {
	m := newManifest(f.id)
	present, err := f.segments() // before the manifest: segments that another process adds meanwhile are in the manifest, or are being written
	if err != nil {
		return m, Health{}, err
	}
	wrong, err := f.readManifest(&m)
	if err != nil {
		return m, Health{}, err
	}
	sound := uint64(0)
	for i := range m.lines {
		events, reason, err := f.readSegment(&m.lines[i])
		if err != nil {
			return m, Health{}, err
		}
		for _, e := range events {
			if err := visit(e); err != nil {
				return m, Health{}, err
			}
			sound = e.Index
		}
		if reason != nil {
			return m, healthOf(reason, sound), nil
		}
	}
	if wrong != nil {
		return m, healthOf(wrong, sound), nil
	}
	left := m.unattested(present)
	if len(left) > 1 { // a crash leaves at most one
		wrong = &Reason{NonContiguous, fmt.Sprintf("%d segments from %s on have no line in the manifest", len(left), left[0])}
	}
	h := healthOf(wrong, sound)
	h.Unattested = len(left)
	return m, h, nil
}
