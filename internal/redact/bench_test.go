package redact

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// cleanMessage is an error as servers send it: 232 bytes and nothing to take out.
const cleanMessage = `Tool "search_issues" failed with status 422: field "labels[2]" must be one of bug, feature, docs; got "enhance". ` +
	`Request 7c1e5a60-0b1f-4d0e-9a57-2f6b1c2d3e4f at 2026-01-02T03:04:05.678Z, retry is useless: fix the call and try again.`

func cleanText(n int) string {
	return strings.Repeat(cleanMessage+" ", n/len(cleanMessage)+1)[:n]
}

// bigRegexp holds the same prefixes and the most important of the other rules.
func bigRegexp() *regexp.Regexp {
	var alts []string
	for _, sh := range shapes {
		alts = append(alts, fmt.Sprintf(`%s[A-Za-z0-9_\-.+/=]{%d,}`, regexp.QuoteMeta(sh.prefix), sh.min))
	}
	alts = append(alts,
		`eyJ[\w-]+\.[\w-]+\.[\w-]+`, `-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END`, `\b\d{8,10}:[\w-]{35}`,
		`[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}`, `(?i:bearer|basic)\s+[\w.~+/=-]{8,}`, `\w+://[^\s/:@]*:[^\s/@]+@`,
		`(?i)["']?[\w.-]*(?:password|passwd|pwd|secret|token|api[_-]?key|private[_-]?key|authorization|cookie|credentials?|passphrase)["']?\s*[:=]\s*["']?[^\s"'&;]+`,
		`(?i)[?&](?:key|sig|signature|code|auth|session|sid)=[^&\s]+`,
		`(?:^|[\s"'(=:,])(?:/[\w.@-]+){2,}`, `(?:[A-Za-z]:\\|\\\\\w+\\)[^\s"']+`, `~/[^\s"']+`, `[\p{Cc}\p{Cf}\p{Co}]`)
	return regexp.MustCompile(strings.Join(alts, "|"))
}

func TestBenchmarkTextIsClean(t *testing.T) {
	if len(cleanMessage) != 232 {
		t.Errorf("%d bytes", len(cleanMessage))
	}
	for _, n := range []int{232, 4 << 10, 64 << 10} {
		s := cleanText(n)
		if out := Text(s); out != s {
			t.Errorf("changed: %q", around(out, s))
		}
		if got := testing.AllocsPerRun(20, func() { Text(s) }); got != 0 {
			t.Errorf("%v allocations for clean text of %d bytes", got, n)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	re := bigRegexp()
	for _, n := range []int{232, 4 << 10, 64 << 10, 1 << 20} {
		s := cleanText(n)
		b.Run(fmt.Sprintf("text/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				Text(s)
			}
		})
		b.Run(fmt.Sprintf("regexp/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				re.MatchString(s)
			}
		})
	}
}

// hostile are the repeated pieces of texts made to be slow.
var hostile = []string{
	"/", ":", "a=", "@@@@", "gh" + "p_", `"`, `\`, `\"`, "://", "a://", "http://a:b/", "/=", "/a", "=/a/", "eyJ-", "eyJ.", "key=", "key=key=", "token:", "token ",
	"token=", "password=(", "password: x ", "cookie:", "cookie:a ", "authorization:", "bearer ", "basic ", "--token ", "-----BEGIN PRIVATE KEY-----", "[redacted:", "[redacted:key]",
	"%3D", "%", "%25", `\u003d`, "&quot;", "<password>", "',", "'password','", `"key":"`, "C:\\", `\\h\s`, "~/", "~", "file://", "file:///a", "key='", "M", "Mx", "1:", "123456789:",
	"\x1b]", "\x1b[", "\u009d", "\u200b", "\ufe0f", "\xff", "\r", "sk-", "sk-a ", "a.", ",a", ", ", "'/a ", "/home/", "/home/a ", " /home", "\n    at ", "api key ", "{", "pwd=,a",
	`"password":`, `"password":"`, "password=\\", "password='\\", "xox", "-", "--", "- ", "at (", "pat", "auth ", "secret is ",
}

func BenchmarkHostile(b *testing.B) {
	for _, piece := range hostile {
		for _, n := range []int{64 << 10, 1 << 20} {
			s := strings.Repeat(piece, n/len(piece)+1)[:n]
			b.Run(fmt.Sprintf("%q/%d", piece, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					Text(s)
				}
			})
		}
	}
}
