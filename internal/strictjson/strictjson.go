// Package strictjson decodes JSON that serves as evidence: it accepts only JSON that every parser interprets in the
// same way. encoding/json ignores the case of names, uses the last of two equal names and drops unknown names, so
// that a text can show one value to a person and another to a program.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// Unmarshal decodes data into v, as [json.Unmarshal] does. It rejects duplicate members, members that v does not have
// under exactly this name, missing members that v always encodes, and data after the value. In other words, encoding
// v again produces data, except for white space, escapes and the order of members.
func Unmarshal(data []byte, v any) error {
	if err := namesOnce(data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return err
	}
	again, err := json.Marshal(v)
	if err != nil {
		return err
	}
	got, want := tree(data), tree(again)
	if !reflect.DeepEqual(got, want) {
		return differ(got, want)
	}
	return nil
}

// tree decodes valid JSON into maps, slices and scalars; numbers keep their text.
func tree(data []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	_ = d.Decode(&v) // it was decoded before
	return v
}

// differ returns an error that names a member in which an object differs from its encoding.
func differ(got, want any) error {
	switch g := got.(type) {
	case map[string]any:
		w, _ := want.(map[string]any)
		return differMember(g, w)
	case []any:
		w, _ := want.([]any)
		for i := range g {
			if i < len(w) && !reflect.DeepEqual(g[i], w[i]) {
				return differ(g[i], w[i])
			}
		}
	}
	return errors.New("value not in canonical form")
}

func differMember(got, want map[string]any) error {
	for name := range got {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("unknown member %.70q", name)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			return fmt.Errorf("member %.70q is missing", name)
		}
		if !reflect.DeepEqual(got[name], want[name]) {
			return differ(got[name], want[name])
		}
	}
	return errors.New("value not in canonical form")
}

// namesOnce returns an error if data is not a single JSON value, or if an object in it has a duplicate member.
func namesOnce(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var open []*object
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && len(open) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, &object{names: map[string]bool{}})
			case '[':
				open = append(open, &object{})
			default:
				open = open[:len(open)-1]
				valueEnds(open)
			}
		case string:
			if err := nameOrValue(open, t); err != nil {
				return err
			}
		default:
			valueEnds(open)
		}
	}
}

// object is an object or an array that is being read; names is nil for an array.
type object struct {
	names map[string]bool
	value bool // a name was read; its value is next
}

// nameOrValue handles a string, which is the name of a member or a value.
func nameOrValue(open []*object, text string) error {
	if len(open) > 0 {
		if o := open[len(open)-1]; o.names != nil && !o.value {
			if o.names[text] {
				return fmt.Errorf("duplicate member %.70q", text)
			}
			o.names[text], o.value = true, true
			return nil
		}
	}
	valueEnds(open)
	return nil
}

// valueEnds records that the next string in an object is a name.
func valueEnds(open []*object) {
	if len(open) > 0 {
		open[len(open)-1].value = false
	}
}
