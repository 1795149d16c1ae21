package ledger

import (
	"os"
	"path/filepath"
	"slices"
)

// maxPlaces bounds the second places that chains may name: a ledger that was tampered with must not keep a verifier busy.
const maxPlaces = 16

func placeAt(name string) *witnessFile {
	return &witnessFile{fsys: os.DirFS(filepath.Dir(name)), base: filepath.Base(name), name: name}
}

// sameFile reports whether two names lead to one file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// namePlace remembers the second place that the first entry of a chain names.
func (v *verification) namePlace(line *Line) {
	var data struct {
		Second string `json:"second_place"`
	}
	if unmarshalData(line, &data) != nil || !filepath.IsAbs(data.Second) || len(v.named) == maxPlaces || slices.Contains(v.named, data.Second) {
		return
	}
	v.named = append(v.named, data.Second)
}

// openPlaces reads where each second place has the blocks of each chain. Places that the caller gave must be readable; those that only the
// chains name may be on another machine, and are reported.
func (v *verification) openPlaces() error {
	for _, p := range v.places {
		if err := v.openPlace(p); err != nil {
			return err
		}
	}
	for _, name := range v.named {
		if slices.ContainsFunc(v.places, func(p *witnessFile) bool { return sameFile(p.name, name) }) {
			continue
		}
		p := placeAt(name)
		if v.openPlace(p) != nil {
			v.report.Unread = append(v.report.Unread, name)
			continue
		}
		v.places = append(v.places, p)
	}
	return nil
}

func (v *verification) openPlace(p *witnessFile) error {
	harm, err := p.index()
	if err != nil {
		return err
	}
	if harm != nil {
		v.report.Harms = append(v.report.Harms, *harm)
	}
	v.report.SecondPlaces = append(v.report.SecondPlaces, p.name)
	return nil
}

func (v *verification) closePlaces() {
	for _, p := range v.places {
		p.close()
	}
}
