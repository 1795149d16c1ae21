package jsontext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/jsontext"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestAppendWritesCanonicalJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"b": 1, "a": [true, null, "x"]}`:   `{"a":[true,null,"x"],"b":1}`,
		`1.0`:                                `1`,
		`-0`:                                 `0`,
		`0.0e5`:                              `0`,
		`9007199254740993`:                   `9007199254740993`,
		`1e21`:                               `1e+21`,
		`100000000000000000000`:              `100000000000000000000`,
		`123456789012345678901234567890`:     `1.2345678901234568e+29`,
		`0.000001`:                           `0.000001`,
		`1e-7`:                               `1e-7`,
		`-12.50`:                             `-12.5`,
		`333333333.33333329`:                 `333333333.3333333`,
		`"\u20ac\u000f\u000aA'\"\\/<\u2028"`: "\"€\\u000f\\nA'\\\"\\\\/<\u2028\"",
		"{\"\\ufb33\":1,\"\\ud83d\\ude00\":2,\"\\u20ac\":3,\"\\r\":4,\"1\":5}": "{\"\\r\":4,\"1\":5,\"€\":3,\"😀\":2,\"\ufb33\":1}",
	} {
		got, err := jsontext.AppendCanonical(nil, decode(t, text))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestAppendRefusesWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	loop := map[string]any{}
	loop["self"] = loop
	if _, err := jsontext.AppendCanonical(nil, loop); !errors.Is(err, jsontext.ErrTooDeep) {
		t.Errorf("cycle: %v", err)
	}
	for _, v := range []any{math.NaN(), math.Inf(1), struct{}{}, json.Number("1e9999999999"), json.Number("x"), json.Number("01"), json.Number("")} {
		if _, err := jsontext.AppendCanonical(nil, []any{v}); err == nil {
			t.Errorf("%v: no error", v)
		}
	}
	if jsontext.Equal(loop, loop) {
		t.Error("a value that contains itself equals itself")
	}
}

func TestNumbersCompareExactly(t *testing.T) {
	t.Parallel()
	ordered := []any{
		json.Number("-1e300"), json.Number("-9007199254740993"), json.Number("-9007199254740992"), json.Number("-2"), json.Number("-1.5"), json.Number("0"), json.Number("1e-300"), 0.5,
		json.Number("9007199254740992"), json.Number("9007199254740993"),
		json.Number("99999999999999999999"), json.Number("100000000000000000000"), json.Number("1e300"), json.Number("1.1e300"),
	}
	for i, a := range ordered {
		for j, b := range ordered {
			got, ok := jsontext.Compare(a, b)
			if !ok || got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("Compare(%v, %v) = %d, %v", a, b, got, ok)
			}
		}
	}
	if !jsontext.Equal(json.Number("1.50"), 1.5) || !jsontext.Equal(3, json.Number("3e0")) || !jsontext.Equal(int64(3), 3.0) {
		t.Error("equal numbers of different types differ")
	}
	if jsontext.Equal("1", json.Number("1")) || jsontext.IsNumber("1") {
		t.Error("a string is taken for a number")
	}
}

func TestIntTakesWholeNumbersOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "3": 3, "3.0": 3, "-12": -12, "3e2": 300, "1.5e1": 15, "999999999999999": 999999999999999} {
		if got, ok := jsontext.Int(json.Number(text)); !ok || got != want {
			t.Errorf("Int(%s) = %d, %v", text, got, ok)
		}
	}
	for _, v := range []any{json.Number("1.5"), json.Number("0.1"), json.Number("1e15"), json.Number("1e-3"), "3", nil} {
		if got, ok := jsontext.Int(v); ok {
			t.Errorf("Int(%v) = %d", v, got)
		}
	}
}

func TestLookupFollowsDots(t *testing.T) {
	t.Parallel()
	object, _ := decode(t, `{"a": {"b": {"c": 1}}, "d": null}`).(map[string]any)
	for key, want := range map[string]bool{"a": true, "a.b.c": true, "d": true, "a.x": false, "a.b.c.d": false, "d.x": false, "": false, "a.": false} {
		if _, ok := jsontext.Lookup(object, key); ok != want {
			t.Errorf("Lookup(%q): %v", key, ok)
		}
	}
}

// FuzzAppend checks that the canonical text means the same value and is its own canonical text.
func FuzzAppendCanonical(f *testing.F) {
	f.Add(`{"a":[1.50,-0,1e5,"\u00e9",{"b":null}]}`)
	f.Add(`[1e-7,123456789012345678901234567890,0.1e-300]`)
	f.Fuzz(func(t *testing.T, text string) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return
		}
		once, err := jsontext.AppendCanonical(nil, v)
		if err != nil {
			return
		}
		again := decode(t, string(once))
		twice, err := jsontext.AppendCanonical(nil, again)
		if err != nil || !bytes.Equal(once, twice) || !jsontext.Equal(v, again) {
			t.Errorf("%s: %s then %s, %v", text, once, twice, err)
		}
	})
}
