package jsontext

import (
	"encoding/json"
	"testing"
)

type inner struct {
	Text  string          `json:"text"`
	Extra json.RawMessage `json:"extra,omitempty"`
}

type outer struct {
	Name  string  `json:"name"`
	Count int     `json:"count"`
	All   []inner `json:"all"`
	One   *inner  `json:"one,omitempty"`
}

func TestUnmarshalStrictRefusesWhatReadersUnderstandDifferently(t *testing.T) {
	for text, want := range map[string]bool{
		`{"name":"a","count":1,"all":[]}`:                                         true,
		` { "all" : null, "count" : 1, "name" : "\u0061" } `:                      true,
		`{"name":"a","count":1,"all":[{"text":"x"}],"one":{"text":"y"}}`:          true,
		`{"name":"a","count":1,"all":[{"text":"x","extra":{"b":1,"B":[2,"b"]}}]}`: true, // not read here
		`{"name":"a","name":"b","count":1,"all":[]}`:                              false,
		`{"name":"a","name":"a","count":1,"all":[]}`:                              false,
		`{"name":"a","\u006eame":"b","count":1,"all":[]}`:                         false,
		`{"name":"a","Name":"b","count":1,"all":[]}`:                              false,
		`{"Name":"a","count":1,"all":[]}`:                                         false,
		`{"name":"a","count":1,"all":[],"more":1}`:                                false,
		`{"name":"a","count":1}`:                                                  false,
		`{"name":"a","count":1,"all":[{"text":"x","text":"y"}]}`:                  false,
		`{"name":"a","count":1,"all":[{"text":"x","TEXT":"y"}]}`:                  false,
		`{"name":"a","count":1,"all":[{"text":"x","extra":{"b":1,"b":2}}]}`:       false,
		`{"name":"a","count":1,"all":[],"one":null}`:                              false,
		`{"name":"a","count":1,"all":[]} {}`:                                      false,
		`{"name":"a","count":1,"all":[]`:                                          false,
		`[]`:                                                                      false,
		``:                                                                        false,
	} {
		if err := UnmarshalStrict([]byte(text), &outer{}); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
