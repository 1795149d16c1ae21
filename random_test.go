package candor_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
)

// maker builds random values. The same seed builds the same value, so that a test can detect a change.
type maker struct {
	r     *rand.Rand
	plain bool  // only values that reflect.DeepEqual can compare
	open  []any // the values that contain the current one, for cycles
}

var pieces = []string{
	"a", "b", " ", "\"", "\\", "\n", "\t", "\r", "\x00", "\x1b[31m", "\x7f", "é", "…", "😀", "\u200b", "\u202e", "\u2028", "\xff", "\xe2\x80",
	"password", "token", "=", ":", "/home/ann/", "/tmp/x.txt", "C:\\Users\\ann\\", "hunter2hunter2", "[redacted:", "[redacted:token]", "]",
	"Bearer ", "https://u:p@example.com/", "--password ", "api_key=", "{\"token\":\"", "-----BEGIN PRIVATE KEY-----", "&quot;", "%3D", "\ufe0f",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlc2ln", "sk-abcdefghijklmnopqrstuvwx", "the key is ", "~/", "…/", "'", "<token>",
}

func (m *maker) text() string {
	var b strings.Builder
	n := m.r.IntN(8)
	if m.r.IntN(20) == 0 {
		n = m.r.IntN(600)
	}
	for range n {
		p := pieces[m.r.IntN(len(pieces))]
		if m.r.IntN(30) == 0 {
			p = strings.Repeat(p, m.r.IntN(300))
		}
		b.WriteString(p)
	}
	return b.String()
}

type leaf struct {
	Text   string `json:"text"`
	Secret string `json:"client_secret,omitempty"`
	Any    any
	More   *leaf
	hidden string
}

func (m *maker) value(depth int) any {
	if depth > 0 && m.r.IntN(5) > 1 {
		return m.container(depth)
	}
	switch m.r.IntN(18) {
	case 0:
		return nil
	case 1:
		return m.r.IntN(2) == 0
	case 2:
		return int64(m.r.Uint64())
	case 3:
		return m.r.Uint64()
	case 4:
		return math.Float64frombits(m.r.Uint64()&^(1<<62) | 1)
	case 5:
		return json.Number([]string{"1", "-0", "1e400", "9007199254740993", "1.0", "", "x", "0x1", strings.Repeat("1", 80), " 1"}[m.r.IntN(10)])
	case 6:
		return json.RawMessage([]string{`{"b":1,"a":[1.0,{"token":"x"}]}`, `[`, ``, `"\ud800"`, ` [ 1 ] `, `null`, `1 2`, "\"\xff\"", `{"a":1,"a":2}`}[m.r.IntN(9)])
	case 7:
		return []byte(m.text())
	case 8:
		return time.UnixMilli(int64(m.r.IntN(1 << 40))).UTC()
	case 9:
		if m.plain {
			return m.text()
		}
		return []any{make(chan int), func() {}, complex(1, 1), math.NaN(), math.Inf(-1), float32(math.Inf(1))}[m.r.IntN(6)]
	case 10:
		return []any{errors.New(m.text()), unwilling{}, unwillingly{}, candor.DetailsOf([]int{1, 2}), (*leaf)(nil), panicky{"x"}}[m.r.IntN(6)]
	case 11:
		if len(m.open) > 0 {
			return m.open[m.r.IntN(len(m.open))] // a cycle, or a shared value
		}
		return 1
	default:
		return m.text()
	}
}

func (m *maker) size() int {
	if m.r.IntN(40) == 0 {
		return m.r.IntN(250)
	}
	return m.r.IntN(6)
}

func (m *maker) container(depth int) any {
	n := m.size()
	if m.r.IntN(20) == 0 && depth < 6 {
		depth, n = depth+20, 1 // narrow and deep
	}
	if depth > 6 {
		n = 1
	}
	enter := func(v any) { m.open = append(m.open, v) }
	defer func(n int) { m.open = m.open[:n] }(len(m.open))
	switch m.r.IntN(7) {
	case 0:
		list := make([]any, n)
		enter(list)
		for i := range list {
			list[i] = m.value(depth - 1 - n/20)
		}
		return list
	case 1:
		out := map[any]any{}
		for range n {
			out[[]any{m.text(), m.r.IntN(9), true, 1.5}[m.r.IntN(4)]] = m.value(depth - 1 - n/20)
		}
		return out
	case 2:
		out := make([]string, n)
		for i := range out {
			out[i] = m.text()
		}
		return out
	case 3:
		l := &leaf{Text: m.text(), Secret: m.text(), hidden: m.text()}
		enter(l)
		l.Any = m.value(depth - 1)
		if m.r.IntN(2) == 0 {
			l.More = l
		}
		return l
	case 4:
		var inner any
		enter(&inner)
		inner = m.value(depth - 1)
		return &inner
	default:
		out := map[string]any{}
		enter(out)
		for range n {
			out[m.text()] = m.value(depth - 1 - n/20)
		}
		return out
	}
}

var times = flag.Int("times", 1, "how many times as many random values are tried; .ci/run torture has 5")

// rounds returns the number of runs for a property. It is lower in a short run, because the race detector is slow.
func rounds(n int) int {
	if testing.Short() {
		return n / 4
	}
	return n * *times
}

// TestAnyValueMakesSafeDetails checks the guarantees of Details for random values, including cycles.
func TestAnyValueMakesSafeDetails(t *testing.T) {
	for seed := range uint64(rounds(1800)) {
		m := maker{r: rand.New(rand.NewPCG(seed, 1))}
		v := m.value(5)
		d := candor.DetailsOf(v)
		checkDetails(t, "value", d)
		if d2 := d.With("issues", m.value(2)); !d2.IsZero() {
			checkDetails(t, "with", d2)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestAnyValueIsLeftAsItWas(t *testing.T) {
	for seed := range uint64(rounds(300)) {
		build := func() any {
			return (&maker{r: rand.New(rand.NewPCG(seed, 2)), plain: true}).value(5)
		}
		v, want := build(), build()
		if !reflect.DeepEqual(v, want) {
			t.Fatalf("seed %d does not build the same value twice", seed)
		}
		_ = candor.FromUnknown(v, candor.WithDetails(v))
		if !reflect.DeepEqual(v, want) {
			t.Fatalf("seed %d: the value was changed", seed)
		}
	}
}

// FuzzDetails reads arbitrary bytes as JSON details.
func FuzzDetails(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.50,-0,1e400],"token":"x","n":null}`, `[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]`, `"\ud800\u0000"`, `{"…":1,"…":2}`, `{"a":"` + strings.Repeat("é", 2000) + `"}`,
		`{"password":true,"pass\u200bword":"x"}`, `[` + strings.Repeat(`"aaaaaaaa",`, 1200) + `1]`, `1 2`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := candor.ParseDetails(raw)
		if (err == nil) != json.Valid(raw) {
			t.Fatalf("ParseDetails(%q): %v", raw, err)
		}
		checkDetails(t, "parsed", d)
		checkDetails(t, "raw", candor.DetailsOf(json.RawMessage(raw)))
		checkDetails(t, "text", candor.DetailsOf(string(raw)))
		checkDetails(t, "name", candor.DetailsOf(map[string]any{string(raw): string(raw)}))
	})
}
