package framing_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// widest records the largest buffer that a reader was given.
type widest struct {
	io.Reader
	most int
}

func (w *widest) Read(p []byte) (int, error) {
	w.most = max(w.most, len(p))
	return w.Reader.Read(p)
}

// repeated reads a text n times.
type repeated struct {
	text string
	n    int
	rest string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.rest, r.n = r.text, r.n-1
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func TestCommentsOfAnySizeAreReadPast(t *testing.T) {
	const size = 20 << 20
	for name, comment := range map[string]io.Reader{
		"one comment":             io.MultiReader(strings.NewReader(":"), &repeated{text: strings.Repeat("x", 4000), n: size / 4000}, strings.NewReader("\n\n")),
		"in the event":            io.MultiReader(strings.NewReader(":"), &repeated{text: strings.Repeat("x", 4000), n: size / 4000}, strings.NewReader("\n")),
		"ended by CRLF":           io.MultiReader(strings.NewReader(":"), &repeated{text: strings.Repeat("x", 4000), n: size / 4000}, strings.NewReader("\r\n")),
		"many without blank line": &repeated{text: strings.Repeat(": ping\n", 500), n: size / 3500},
		"an unknown field":        io.MultiReader(strings.NewReader("foo: "), &repeated{text: strings.Repeat("x", 4000), n: size / 4000}, strings.NewReader("\n")),
		"a line without colon":    &repeated{text: strings.Repeat("datum", 500), n: size / 2500},
	} {
		after := strings.NewReader("\r\ndata: {\"a\":1}\nid: 7\n\ndata: b\n\n")
		src := &widest{Reader: io.MultiReader(strings.NewReader("data: first\n\nevent: message\n"), comment, after)}
		r := framing.NewEventReader(src, wire.Limits{})
		var got []string
		var total int64
		for {
			e, err := r.Next()
			if err != nil {
				break
			}
			total += e.Size
			if e.HasData {
				got = append(got, string(e.Data))
			}
			if len(e.Raw) > 100 || e.Flaw != wireflaw.None {
				t.Errorf("%s: %d bytes raw, flaw %v", name, len(e.Raw), e.Flaw)
			}
		}
		if strings.Join(got, " ") != `first {"a":1} b` || total < size/2 {
			t.Errorf("%s: %v, %d bytes", name, got, total)
		}
		if src.most > 256<<10 {
			t.Errorf("%s: a buffer of %d KiB", name, src.most>>10)
		}
	}
}

func TestDroppedCommentsDoNotDependOnChunks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 0))
	lines := []string{": c", ":", "data: x", "data", "dat", "datas: y", "id: 1", "i", "event: e", "retry: 5", "foo: bar", "x", "", "\ufeff", ": a longer comment"}
	ends := []string{"\n", "\r", "\r\n"}
	for range 3000 {
		var in strings.Builder
		if rnd.IntN(3) == 0 {
			in.WriteString("\ufeff")
		}
		for range rnd.IntN(60) {
			in.WriteString(lines[rnd.IntN(len(lines))] + ends[rnd.IntN(len(ends))])
		}
		sizes := append(randomText(rnd, "\x00\x01\x02\x03", 5), byte(rnd.IntN(3)))
		sameEvents(t, []byte(in.String()), sizes, 1+rnd.IntN(120))
	}
}

func TestCommentsDoNotCountAgainstTheLimit(t *testing.T) {
	comment := ": " + strings.Repeat("c", 300) + "\n"
	for _, in := range []string{comment + "data: 12345\n\n", "data: 12345\n" + comment + "\n", comment + comment + "data: 12345\n" + comment + "\n"} {
		for _, sizes := range []string{"", "\x00", "\x05\x01"} {
			got, raw, err := events(&chunks{rest: []byte(in), sizes: []byte(sizes)}, 13)
			want := fmt.Sprintf(`raw="data: 12345\n\n" size=%d data="12345"`, len(in))
			if err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("%q: %v %v %q", sizes, got, err, raw)
			}
		}
		if got, _, _ := events(strings.NewReader(in), 12); len(got) != 1 || !strings.Contains(got[0], "too_large") {
			t.Errorf("over the limit: %v", got)
		}
	}
}
