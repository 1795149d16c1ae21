package foreign_test

import (
	"testing"

	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/wire"
)

// eachText calls f with every string inside a value, and with the strings inside those that are JSON themselves.
func eachText(v wire.Value, nested int, f func(string)) {
	for _, m := range v.Members() {
		eachText(m, nested, f)
	}
	for e := range v.Elements() {
		eachText(e, nested, f)
	}
	text, ok := v.Str()
	if !ok {
		return
	}
	f(text)
	if inner, err := wire.ParseValue([]byte(text), wire.Limits{}); err == nil && nested > 0 {
		eachText(inner, nested-1, f)
	}
}

// noneOverlooked checks that phrases which are skipped would not have matched.
func noneOverlooked(t *testing.T, text string, args wire.Value) {
	t.Helper()
	if lost := foreign.Overlooked(text, args); len(lost) > 0 {
		t.Errorf("%.300q: passed over although they match: %q", text, lost)
	}
}

func TestNoPhraseThatMatchesIsPassedOver(t *testing.T) {
	for _, file := range vectorFiles(t) {
		for _, v := range readVectors(t, file) {
			args, _ := wire.ParseValue(v.Args, wire.Limits{})
			if v.Text != nil {
				noneOverlooked(t, *v.Text, args)
			}
			value, _ := wire.ParseValue(v.Value, wire.Limits{})
			eachText(value, foreign.MaxNested, func(text string) { noneOverlooked(t, text, args) })
		}
	}
	for _, text := range []string{ // one for each kind of demand
		`Parameter "a" is odd`, "parametro 'x'", "缺少必需的参数 name", "必須パラメータ 'x'", "NAME IS REQUIRED", "'name' is required", "'required' is required",
	} {
		noneOverlooked(t, text, wire.Value{})
	}
}

func TestNoPhraseThatMatchesInTheCorpusIsPassedOver(t *testing.T) {
	texts := 0
	for _, rec := range corpus(t) {
		v, err := wire.ParseValue(rec.Response, wire.Limits{AllowLoneSurrogates: true})
		if err != nil {
			t.Fatal(err)
		}
		eachText(v, foreign.MaxNested, func(text string) {
			texts++
			noneOverlooked(t, text, rec.args())
		})
	}
	t.Logf("%d texts", texts)
}

func FuzzNoPhraseThatMatchesIsPassedOver(f *testing.F) {
	for _, file := range vectorFiles(f) {
		for _, v := range readVectors(f, file) {
			if v.Text != nil {
				f.Add(*v.Text, string(v.Args))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, args string) {
		v, _ := wire.ParseValue([]byte(args), wire.Limits{})
		noneOverlooked(t, text, v)
	})
}

func TestEveryDemandHasRoom(t *testing.T) {
	if all, room := foreign.Demands(); all > room {
		t.Errorf("%d demands, room for %d: phrases with the others are tried more often than they need be", all, room)
	} else {
		t.Logf("%d demands, room for %d", all, room)
	}
}
