package redact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/testing/planted"
)

// rulesAlone is like Policy.Text without the prefilter: it applies the rules at every word and every trigger byte.
func rulesAlone(p Policy, s string) string {
	s = clean(s)
	for range rounds {
		x := scanner{s: s, keepPaths: p.KeepPaths || p.ShapesOnly, shapesOnly: p.ShapesOnly}
		for x.i < len(s) {
			switch k := classes[s[x.i]]; {
			case k&alnum != 0:
				if !starts.has(s, x.i) || !x.word() {
					x.i = alnum.run(s, x.i, all)
				}
			case k&trigger == 0 || !x.trigger():
				x.i++
			}
		}
		if x.out == nil {
			return s
		}
		out := string(append(x.out, s[x.done:]...))
		if out == s {
			return s
		}
		s = out
	}
	return withheld
}

// suspectAlone is like suspect, rune by rune.
func suspectAlone(s string) int {
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == utf8.RuneError && size < 2 || r > 0x7f && (unsafeRune(r) || isSelector(r)) {
			return i
		}
	}
	return len(s)
}

// Eight bytes are tested together, so every byte is tested at every position among them.
func TestUnsafeByteIsSeenInAnyPlace(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			s := []byte(strings.Repeat("~ ", 10))
			s[at] = byte(c)
			if got, want := suspect(string(s), 0), suspectAlone(string(s)); got != want {
				t.Errorf("byte %#x at %d: seen at %d, want %d", c, at, got, want)
			}
		}
	}
}

var policies = []Policy{{}, {KeepPaths: true}, {ShapesOnly: true}}

// agree compares the prefilter with the rules alone.
func agree(t *testing.T, s string) {
	t.Helper()
	if got, want := suspect(s, 0), suspectAlone(s); got != want {
		t.Errorf("the first unsafe character of %q is at %d, found at %d", s, want, got)
	}
	for _, p := range policies {
		if got, want := p.Text(s), rulesAlone(p, s); got != want {
			t.Errorf("%+v: the prefilter holds something back\n   in %.2000q\n  got %.2000q\n want %.2000q", p, s, around(got, want), around(want, got))
		}
	}
}

func TestPrefilterHoldsNothingBack(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, p := range planted.Makers {
		for _, at := range planted.Templates {
			agree(t, at.Text(p.Make(r)))
		}
		secret := p.Make(r)
		for n := range len(secret) {
			agree(t, secret[:n])
			agree(t, "x"+secret[:n]+"…")
		}
	}
	for _, form := range leaks {
		agree(t, strings.Replace(form, "%", "qq7"+"hidden-0123456789abcdef", 1))
	}
	for _, s := range harmlessTexts {
		agree(t, s)
	}
	for _, piece := range hostile {
		for n := range 20 {
			agree(t, strings.Repeat(piece, n))
		}
	}
	for _, s := range cleanSamples() {
		agree(t, s)
	}
	key := "-----BEGIN " + "PRIVATE KEY-----\\nMIIEowIBAAKCAQEAabcdefgh"
	for c := range 256 { // a secret directly after any byte, plain and escaped
		for _, before := range []string{string([]byte{byte(c)}), fmt.Sprintf("%%%02X", c), fmt.Sprintf("a%%25%02x", c), fmt.Sprintf(`\u00%02x`, c), fmt.Sprintf(`\%c`, c)} {
			for _, secret := range []string{key, "gh" + "p_abcdefghijkl01", "/home/ann/x", "~/a/b", "key ab12cd34ef56ab12cd34ef", "--token ab12cd", "password=hunter2"} {
				agree(t, before+secret)
				agree(t, "x "+before+secret)
			}
		}
	}
	for _, colon := range []string{":", "%3A", `\u003a`} { // every encoding, as an attacker may write it
		for _, slash := range []string{"/", `\/`, "%2F", "%252f", `\u002f`, `\x2F`} {
			for _, s := range []string{"x redis" + colon + slash + slash + "u:pw@h", "C" + colon + slash + "dir" + slash + "x.txt", `\n` + slash + "home" + slash + "ann"} {
				agree(t, s)
			}
		}
	}
}

func TestPrefilterHoldsNothingBackOfTheCorpus(t *testing.T) {
	for _, name := range []string{"real-servers.jsonl.gz", "successes.jsonl.gz"} {
		list := readCorpus(t, name)
		if testing.Short() {
			list = list[:len(list)/10]
		}
		for _, r := range list {
			agree(t, string(r.Request))
			agree(t, string(r.Response))
			agree(t, r.Stderr)
			for _, s := range texts(r.Response) {
				agree(t, s)
			}
		}
	}
}

// words returns all words in the tables of names, in three spellings.
func words() (list []string) {
	add := func(w string) {
		list = append(list, w, strings.ToUpper(w), strings.ToUpper(w[:1])+w[1:])
	}
	for w := range heads {
		add(w)
	}
	for w := range tails {
		add(w)
	}
	for w := range nouns {
		add(w)
	}
	for w := range siblings {
		add(w)
	}
	for _, f := range fused {
		add("my" + f.ending)
	}
	for _, w := range []string{"tokens", "string", "str", "uri", "id", "access", "accessKey", "connection", "api", "page", "s3"} {
		add(w)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func TestPrefilterHoldsNothingBackOfRandomTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	n := 300_000
	if testing.Short() {
		n = 15_000
	}
	known := words()
	joints := []string{"_", "-", ".", "2", " ", "__", "", "", ""}
	parts := []func() string{
		func() string { return pieces[r.IntN(len(pieces))] },
		func() string { return known[r.IntN(len(known))] + joints[r.IntN(len(joints))] },
		func() string { return shapes[r.IntN(len(shapes))].prefix },
		func() string { return planted.Chars(r, planted.Alnum, r.IntN(40)) },
		func() string {
			return []string{"=", ":", ": ", "\":\"", "','", ">", " => ", "->", "%22:", "\\u0022:"}[r.IntN(10)]
		},
		func() string { return string(rune(' ' + r.IntN(95))) },
	}
	for range n {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteString(parts[r.IntN(len(parts))]())
		}
		if agree(t, b.String()); t.Failed() {
			return
		}
	}
}

// The prefilter must accept a name with a meaning at any separator, in any spelling and with any quote.
func TestEveryNameWithAMeaningTripsThePrefilter(t *testing.T) {
	forms := []string{
		"%s=", "%s:", "%s :", "%s = ", "%s[]=", "x[%s]=", `"%s":`, `\"%s\":`, `\\\"%s\\\":`, `'%s',`, "`%s` :", "%%22%s%%22:", "%%2522%s%%2522:",
		"&quot;%s&quot;:", `\u0022%s\u0022:`, `\x27%s\x27:`, "<%s>", "%s=>", "%s ->", "%s =>", "-%s>",
	}
	known := words()
	count := 0
	joints := []string{"_", "", "2."}
	if testing.Short() {
		joints = joints[:1]
	}
	for _, a := range append([]string{""}, known...) {
		for _, b := range known {
			for _, joint := range joints {
				name := a + joint + b
				if n := (name + "1"); meaningOf(name).level == none && meaningOf(n).level == none && siblings[name] == nil {
					continue
				}
				for _, end := range []string{"", "_", "42"} {
					form := forms[count/3%len(forms)] // one for all three ends
					s := fmt.Sprintf(form, name+end)
					if count++; !mayTrigger(s, strings.LastIndexAny(s, "=:,>")) {
						t.Fatalf("%q is held back", s)
					}
				}
			}
		}
	}
	t.Logf("%d names", count)
	if count < 10_000 {
		t.Error("too few names to mean anything")
	}
}

func TestEveryShapeTripsThePrefilter(t *testing.T) {
	for _, sh := range shapes {
		for c := range byte(0x7f) {
			if s := sh.prefix + string(c); sh.set.in(c) && next(s, 0) != 0 {
				t.Errorf("%q is held back", s)
			}
		}
	}
	for w := range nouns {
		for _, s := range []string{w, strings.ToUpper(w), strings.ToUpper(w[:1]) + w[1:]} {
			if next(s, 0) != 0 {
				t.Errorf("%q is held back", s)
			}
		}
	}
	r := rand.New(rand.NewPCG(13, 14))
	for _, p := range planted.Makers {
		for range 50 {
			if s := p.Make(r); Text(s) != s && next(s, 0) == len(s) {
				t.Errorf("%s is held back: %q", p.Kind, s)
			}
		}
	}
}

// In a name with more words than are read, a word in its middle decides.
func TestNameOfTooManyWordsIsNotHeldBack(t *testing.T) {
	for n := range 30 {
		for _, word := range []string{"ABc", "a_", "A1"} {
			s := strings.Repeat(word, n) + "Token" + strings.Repeat(word, 30-n)
			for cut := range 40 {
				agree(t, s[:len(s)-cut]+"=abc123def456")
			}
		}
	}
}

func FuzzPrefilter(f *testing.F) {
	for _, list := range [][]string{harmlessTexts, leaks, named} {
		for _, s := range list {
			f.Add(s)
		}
	}
	for _, s := range pieces {
		f.Add(s + "=" + s)
	}
	for _, s := range hostile {
		f.Add(strings.Repeat(s, 20))
	}
	for _, sh := range shapes {
		f.Add(sh.prefix + "0123456789abcdefABCDEF0123456789")
	}
	for _, w := range words() {
		f.Add(`{"a_` + w + `":"abc123def456ghi789"}`)
	}
	for _, s := range cleanSamples() {
		f.Add(s[:min(len(s), 1<<10)]) // minimising long seeds takes too long
	}
	f.Fuzz(agree)
}
