package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Load reads a catalogue file. It returns an error for unknown members, because a misspelt one would otherwise be ignored. It does
// not check the content: see [Catalogue.Check].
func Load(path string) (*Catalogue, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the catalogue: %w", err)
	}
	c, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse reads a catalogue. It finds the lines of domains and codes if each begins on a separate line.
func Parse(data []byte) (*Catalogue, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	c := &Catalogue{}
	if err := dec.Decode(c); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the catalogue")
	}
	domains, codes := c.Domains, c.Codes
	number := 0
	for line := range bytes.Lines(data) {
		number++
		switch line = bytes.TrimSpace(line); {
		case bytes.HasPrefix(line, []byte(`{"name":`)) && len(domains) > 0:
			domains[0].Line, domains = number, domains[1:]
		case bytes.HasPrefix(line, []byte(`{"symbol":`)) && len(codes) > 0:
			codes[0].Line, codes = number, codes[1:]
		}
	}
	return c, nil
}
