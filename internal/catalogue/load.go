package catalogue

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// Parse reads a catalogue and records the line on which each domain and code begins.
func Parse(data []byte) (*Catalogue, error) {
	p := parser{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.DisallowUnknownFields()
	c := &Catalogue{}
	if err := p.object(c); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.line(), err)
	}
	return c, nil
}

// parser walks the outer object token by token, because only the token reader reports its position.
type parser struct {
	data []byte
	dec  *json.Decoder
}

func (p *parser) object(c *Catalogue) error {
	if err := p.expect('{'); err != nil {
		return err
	}
	for p.dec.More() {
		if err := p.member(c); err != nil {
			return err
		}
	}
	return p.expect('}')
}

func (p *parser) member(c *Catalogue) error {
	key, err := p.dec.Token()
	if err != nil {
		return err
	}
	switch key {
	case "version":
		return p.dec.Decode(&c.Version)
	case "domains":
		return p.list(func(line int) error {
			d := Domain{Line: line}
			err := p.dec.Decode(&d)
			c.Domains = append(c.Domains, d)
			return err
		})
	case "codes":
		return p.list(func(line int) error {
			code := Code{Line: line}
			err := p.dec.Decode(&code)
			c.Codes = append(c.Codes, code)
			return err
		})
	default:
		return fmt.Errorf("unknown member %q", key)
	}
}

func (p *parser) list(item func(line int) error) error {
	if err := p.expect('['); err != nil {
		return err
	}
	for p.dec.More() {
		if err := item(p.line()); err != nil {
			return err
		}
	}
	return p.expect(']')
}

func (p *parser) expect(want json.Delim) error {
	got, err := p.dec.Token()
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("found %v, want %v", got, want)
	}
	return nil
}

// line returns the line of the next value. The decoder is after the last value, so line skips the comma and the white space.
func (p *parser) line() int {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && bytes.IndexByte([]byte(" \t\r\n,"), p.data[at]) >= 0 {
		at++
	}
	return 1 + bytes.Count(p.data[:at], []byte("\n"))
}
