package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// UnmarshalStrict decodes data into v, as [json.Unmarshal] does, but accepts only JSON that every parser interprets in the same way:
// encoding/json ignores the case of names, uses the last of two equal names and drops unknown names, so that a text can show one value
// to a person and another to a program. UnmarshalStrict rejects duplicate members, members that v does not have
// under exactly this name, missing members that v always encodes, and data after the value. In other words, encoding
// v again produces data, except for white space, escapes and the order of members.
func UnmarshalStrict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the value")
	}
	if err := namesOnce(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return err
	}
	again, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(tree(data), tree(again)) {
		return errors.New("a member is missing, or a value is not in canonical form")
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

// namesOnce returns an error if an object in the next value of a valid text has a duplicate member.
func namesOnce(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	names := map[string]bool{}
	switch token {
	case json.Delim('{'), json.Delim('['):
	default:
		return nil
	}
	for d.More() {
		if token == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return err
			}
			text, _ := name.(string)
			if names[text] {
				return fmt.Errorf("duplicate member %.70q", text)
			}
			names[text] = true
		}
		if err := namesOnce(d); err != nil {
			return err
		}
	}
	_, err = d.Token() // the closing bracket
	return err
}
