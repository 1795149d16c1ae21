package redact

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// cleanMessage is a typical error message of 232 bytes without anything to redact.
const cleanMessage = `Tool "search_issues" failed with status 422: field "labels[2]" must be one of bug, feature, docs; got "enhance". ` +
	`Request 7c1e5a60-0b1f-4d0e-9a57-2f6b1c2d3e4f at 2026-01-02T03:04:05.678Z, retry is useless: fix the call and try again.`

func cleanText(n int) string {
	return strings.Repeat(cleanMessage+" ", n/len(cleanMessage)+1)[:n]
}

// cleanEnvelope is a response with an error in it, as in a ledger entry: JSON within JSON.
const cleanEnvelope = `{"jsonrpc":"2.0","id":42,"result":{"content":[{"type":"text","text":"Tool \"search_issues\" failed with status 422: field \"labels[2]\" must be one of ` +
	`bug, feature, docs; got \"enhance\".\nRequest 7c1e5a60-0b1f-4d0e-9a57-2f6b1c2d3e4f at 2026-01-02T03:04:05.678Z, fix the call and try again."}],"structuredContent":{"error":` +
	`{"code":"INVALID_ARGUMENT","message":"labels[2] must be one of bug, feature, docs","retry":"never","origin":"peer","details":[{"path":"/labels/2","got":"enhance",` +
	`"want":["bug","feature","docs"],"hint":"see the tool's schema; \"docs\" is nearest"}],"cause":"unexpected status: 422 Unprocessable Entity\n\tattempt 1 of 3, 128 ms\n\t` +
	`attempt 2 of 3, 131 ms\n\tgiving up on \"search_issues\": the answer is final"}},"isError":true,"_meta":{"candor/version":"1","candor/trace":` +
	`"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","server":"issues/1.4.2","elapsedMs":391,"upstream":{"name":"issues","transport":"stdio","restarts":0}}}}`

const cleanProse = "The gateway stands between a client and a server and looks at every message that passes. Where a server answers with an error that nobody can act upon, it says in " +
	"plain words what went wrong, whose turn it is, and whether trying again makes sense. It never invents a reason: what it does not know, it says it does not know. A call that is lost, " +
	"because the process behind it died or the line was cut, is answered as well, so that no client waits for ever. "

// cleanLog returns n bytes of typical standard error output.
func cleanLog(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "2026-01-02T03:04:%02d.%03dZ INFO  server/handler.go:%d request finished method=tools/call tool=search_issues status=%d elapsed=%dms id=req_%06d\n",
			i%60, i%1000, 100+i%50, 200+i%3, i%97, i)
		if i%7 == 0 {
			fmt.Fprintf(&b, "    at Object.handle (internal/process/task_queues:%d:%d)\n", i%200, i%40)
		}
	}
	return b.String()[:n]
}

// cleanSamples returns the texts on which speed matters.
func cleanSamples() map[string]string {
	return map[string]string{
		"message": cleanMessage, "envelope": cleanEnvelope, "prose": strings.Repeat(cleanProse, 4<<10/len(cleanProse)), "log": cleanLog(64 << 10),
	}
}

// bigRegexp has the same prefixes and the most important of the other rules.
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
	list := []string{cleanText(4 << 10), cleanText(64 << 10)}
	for _, s := range cleanSamples() {
		list = append(list, s)
	}
	for _, s := range list {
		if out := Text(s); out != s {
			t.Errorf("changed: %q", around(out, s))
		}
		if got := testing.AllocsPerRun(20, func() { Text(s) }); got != 0 {
			t.Errorf("%v allocations for clean text of %d bytes", got, len(s))
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

// BenchmarkSamples measures texts of several kinds.
func BenchmarkSamples(b *testing.B) {
	for name, s := range cleanSamples() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Text(s)
			}
		})
	}
}

// hostile are pieces that are repeated for texts made to be slow.
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
