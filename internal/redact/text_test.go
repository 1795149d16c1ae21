package redact

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"
)

// TestText has one table of inputs and results.
func TestText(t *testing.T) {
	tests := []struct{ in, want string }{
		// Names and values.
		{"password=hunter2", "password=[redacted:password]"},
		{`{"password":"hunter2","n":1}`, `{"password":"[redacted:password]","n":1}`},
		{`{"password":"say \"hi\" now","n":1}`, `{"password":"[redacted:password]","n":1}`},
		{`{\"password\":\"hun\\\"ter2\",\"n\":1}`, `{\"password\":\"[redacted:password]\",\"n\":1}`},
		{`{"password": 123456}`, `{"password": "[redacted:password]"}`},
		{"password \"hunter2\" rejected", "password \"[redacted:password]\" rejected"},
		{"Incorrect API key provided: abc123def456.", "Incorrect API key provided: [redacted:key]."},
		{"Incorrect API key provided: abcd*****wxyz.", "Incorrect API key provided: [redacted:key]."},
		{"Invalid token: abcd1234efgh", "Invalid token: [redacted:token]"},
		{"Server=x;Password=abc;Db=y", "Server=x;Password=[redacted:password];Db=y"},
		{"map[Authorization:[Bearer xyz] A:[b]]", "map[Authorization:[[redacted:authorization]] A:[b]]"},
		{"Cookie: a=b; c=d\nHost: x", "Cookie: [redacted:cookie]\nHost: x"},
		{"Authorization: Basic " + "dXNlcjpwYXNz" + "\nfoo", "Authorization: [redacted:authorization]\nfoo"},
		{"sent Basic " + "dXNlcjpwYXNz" + " to x", "sent Basic [redacted:authorization] to x"},
		{"<apiKey>foo</apiKey>", "<apiKey>[redacted:key]</apiKey>"},
		{"tool --token abcd --x", "tool --token [redacted:token] --x"},
		{"https://m.example/json?q=1&key=ab9x-0123456789abcdef failed", "https://m.example/json?q=1&key=[redacted:key] failed"},
		{"mysql -uroot -pS3cr3tPw db", "mysql -uroot -p[redacted:password] db"},
		{"Password:\n  S3cr3tPw99\nok", "Password:\n  [redacted:password]\nok"},
		{"passphrase is 'open sesame 42'", "passphrase is '[redacted:password]'"},
		{"otp=482913", "otp=[redacted:token]"},
		{"Proxy-Authorization: Digest username=\"u\", realm=\"r\", response=\"6629fae49393a053\"\nHost: x", "Proxy-Authorization: [redacted:authorization]\nHost: x"},
		{`{"h":"Authorization: Digest username=\"u\", response=\"66\"","n":1}`, `{"h":"Authorization: [redacted:authorization]","n":1}`},
		{"password=Tr0ub4dor&3", "password=[redacted:password]"},
		{"login password=Tr0ub4dor&3 failed", "login password=[redacted:password] failed"},
		{"password=Tr0ub4dor&user=x", "password=[redacted:password]&user=x"},
		{"/x?a=1&password=Tr0ub4dor&3", "/x?a=1&password=[redacted:password]&3"},
		// URLs.
		{"postgres://u:p@h/db", "postgres://[redacted:url-credentials]@h/db"},
		{"redis://:pw@h:6379", "redis://[redacted:url-credentials]@h:6379"},
		{"amqp://u:pa/ss@h/x", "amqp://[redacted:url-credentials]@h/x"},
		{"postgres%3A%2F%2Fu%3Ap%40h%2Fdb", "postgres%3A%2F%2F[redacted:url-credentials]%40h%2Fdb"},
		{"https://hooks.slack.com/services/T0/B0/xyz", "https://hooks.slack.com/services/[redacted:webhook]"},
		// Keys in blocks.
		{"k: -----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY----- end", "k: [redacted:private-key] end"},
		{`"-----BEGIN ` + `PRIVATE KEY-----\nMIIEow\n-----END PRIVATE KEY-----\n"`, `"[redacted:private-key]\n"`},
		{"-----BEGIN " + "PRIVATE KEY-----\nMIIEowIBAAKCAQEAabcdefgh", "[redacted:private-key]"},
		// Paths.
		{"File not found: /home/ann/app/missing.txt", "File not found: …/missing.txt"},
		{"ENOENT: no such file or directory, open '/srv/My Files/x y.txt'", "ENOENT: no such file or directory, open '…/x y.txt'"},
		{`x C:\Users\bob\f.txt y`, "x …/f.txt y"},
		{`{"p":"C:\\Users\\bob\\f.txt"}`, `{"p":"…/f.txt"}`},
		{`\\host\share\dir\f.txt`, "…/f.txt"},
		{"file:///x/y/missing.txt not found", "…/missing.txt not found"},
		{"file:///C:/x/missing.txt not found", "…/missing.txt not found"},
		{"~/x/y.txt", "…/y.txt"},
		{"in /home/ann: no", "in …/~: no"},
		{`{"dir":"\/var\/lib\/x"}`, `{"dir":"…/x"}`},
		{"dir=%2Fvar%2Flib%2Fx&a=b", "dir=…/x&a=b"},
		{"PATH=/usr/bin:/usr/local/bin", "PATH=…/bin:…/bin"},
		{"at fn (/x/y.js:1:2)", "at fn (…/y.js:1:2)"},
		{`File "/x/y.py", line 3`, `File "…/y.py", line 3`},
		{"\t/x/y.go:12 +0x1d", "\t…/y.go:12 +0x1d"},
		{`C:\Program Files\nodejs\node.exe not found`, "…/node.exe not found"},
		{"/Users/Ann Lee/Documents/x.txt is gone", "…/x.txt is gone"},
		{"/home/ann/x.txt HTTP/1.1", "…/x.txt HTTP/1.1"},
		{"文件/home/ann/x.txt", "文件…/x.txt"},
	}
	for _, tt := range tests {
		if got := Text(tt.in); got != tt.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

// harmlessTexts must be returned unchanged.
var harmlessTexts = []string{
	"", " ", "plain", "foo.bar.baz", "123e4567-e89b-12d3-a456-426614174000", "commit 3f786850e387550fdab836ed7e6dc881de23001b",
	"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "2026-01-02T03:04:05.678Z", "v1.2.3-beta.4+build5", "request id req_01HZX7",
	"/tags/1", "/properties/opts/deep", "validating /properties/name: type", "GET /v1/users/42 HTTP/1.1", "[POST /app/items] failed", "application/json; charset=utf-8",
	"@scope/package@1.2.3", "github.com/acme/app", "https://example.com/home/ann/x.txt?page=2#top", "https://git@github.com/a/b", "either/or", "1/2", "N/A", "a/b/c", "./x/y.txt", "../x/y.txt",
	"Unexpected token < in JSON at position 0", "Unexpected token 'e', \"error\" is not valid JSON", "Unexpected token: foo", "Invalid token: Unexpected end of input",
	"password: must be at least 8 characters", `{"password":["This field is required."]}`, `{"password":"is too short (minimum is 8 characters)"}`, "password is required",
	"API key is missing", "use --token to set one", "api_key: required", `{"token":null,"apiKey":true,"password":""}`, `{"required":["username","password","email"]}`,
	"max_tokens=4096, total_tokens: 12", `{"next_page_token":"CAoQAA","nextPageToken":"abc123def456ghi789"}`, "primary_key=id", "key=value", "sort_key: created_at", "monkey: banana",
	"author: Ann Lee", "authority=local", "passed: 12, failed: 0", "WWW-Authenticate: Bearer realm=\"x\", error=\"invalid_token\"", "Bearer token is missing", "Basic usage of the tool",
	"token expired", "secret not found", "export TOKEN=$GITHUB_TOKEN", "Authorization: Bearer $API_TOKEN", "Authorization: Bearer <token>", "password=${DB_PASSWORD}", "password=********",
	"</body></html>", "<p>a</p>", "time 12:30:45", "host:8080", "localhost:3000/api", "key: value", "C: drive", "A:\\nfirst\\nsecond", "\\u0027credential\\u0027 or \\\\u0027key\\\\u0027",
	"mkdir -p build", "mysql -p", "mysql -P 3306 -h x", "docker run -p8080:80 x", "password:\n  type: string", "Password:\n  must be longer", "password is 'not set'", "passphrase was 'too short'",
	"otp=required", "otp: 12", "password for 'Ann Lee' is wrong", "sk-learn is a library", "task-force", "risk-averse-people-and-others", "key-value", "key-performance-indicator", "secret_name", "hf_hub", "npm_config", "pypi-server", "dapi", "SG. and more", "AC current",
	"~ 5 items", "~5/10", "--- /dev/null", "> /dev/null 2>&1", "x = y", "a == b", "a := b", "http://localhost:3000/callback?state=1", "foo@example.com", "user@host:22", "100% sure", "50%of", "\\d+\\w", "C++ / C#",
	"eyJvZmZzZXQiOjEwfQ", "Library /vercel/next.js not found", "this is not a valid API key", "use a valid token", "(using password: YES)", "cursor eyJvZmZzZXQiOjEwfQ== invalid", "MIME", "None of them", "Object.keys(x)", "Mon Jan 2 15:04:05 2026",
}

func TestHarmlessTextStays(t *testing.T) {
	for _, s := range harmlessTexts {
		if got := Text(s); got != s {
			t.Errorf("Text(%q) = %q", s, got)
		}
	}
}

func TestPlaceholdersStay(t *testing.T) {
	for _, k := range Kinds() {
		for _, s := range []string{placeholder(k), "a=" + placeholder(k), `{"password":"` + placeholder(k) + `"}`, "Bearer " + placeholder(k), "token " + placeholder(k) + "."} {
			if got := Text(s); got != s {
				t.Errorf("Text(%q) = %q", s, got)
			}
		}
	}
	if ks := Kinds(); !slices.IsSorted(ks) || len(ks) < 40 {
		t.Errorf("%d kinds: %v", len(ks), ks)
	}
}

func TestPlaceholderHidesNothing(t *testing.T) {
	for _, s := range []string{"password=[redacted:password]hunter2", "password=[redacted:nonsense]hunter2", `"password":"[redacted:key] hunter2"`} {
		if got := Text(s); strings.Contains(got, "hunter2") {
			t.Errorf("Text(%q) = %q", s, got)
		}
	}
}

func TestKeepPathsKeepsPathsOnly(t *testing.T) {
	got := Policy{KeepPaths: true}.Text(`/home/ann/x.txt C:\a\b ~/x/y file:///x/y token=abcdef12`)
	if want := `/home/ann/x.txt C:\a\b ~/x/y file:///x/y token=[redacted:token]`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBytesNeverWritesToItsInput(t *testing.T) {
	for _, s := range append(slices.Clone(harmlessTexts), "password=hunter2", "/home/a/b\x00", "\xff") {
		in := []byte(s)
		out := Bytes(in)
		if string(in) != s {
			t.Errorf("%q was changed to %q", s, in)
		}
		if string(out) != Text(s) {
			t.Errorf("Bytes(%q) = %q, Text is %q", s, out, Text(s))
		}
		if len(s) > 0 && Text(s) == s && &out[0] != &in[0] {
			t.Errorf("clean %q was copied", s)
		}
	}
	if Bytes(nil) != nil {
		t.Error("nil did not stay nil")
	}
}

func TestCleanTextIsTheSameString(t *testing.T) {
	for _, s := range harmlessTexts {
		if out := Text(s); len(s) > 0 && unsafe.StringData(out) != unsafe.StringData(s) {
			t.Errorf("clean %q was copied", s)
		}
	}
}

// pieces are the parts of random texts: everything that has a meaning for a rule.
var pieces = []string{
	" ", "\n", "\"", "'", "`", "\\", "\\\"", "\\n", "\\u0022", "\\u003d", "%22", "%3D", "%3A", "%2F", "%40", "%25", "%", "&", "&quot;", "&amp;", "?", "#", "=", ":", "://", "/", "//", "@", ",", ";", "(", ")",
	"[", "]", "{", "}", "<", ">", "-", "--", "-----", ".", "…", "...", "~", "~/", "$", "*", "_", "C:\\", "\\\\", "file://", "http://", "password", "token", "key", "api", "Bearer ", "Basic ", "Authorization", "cookie",
	"secret", "home", "usr", "/home/", "/usr/", "a", "b1", "abc123def456", "hunter2", "x.txt", "gh" + "p_", "eyJ", "eyJhbGci", "sk-", "AK" + "IA", "[redacted:", "[redacted:key]", "[redacted:password]", "BEGIN " + "PRIVATE KEY",
	"END PRIVATE KEY", "true", "is", "provided", "digest", "1234567890", "\x1b[31m", "\x1b]", "\x07", "\u200b", "\ufe0f", "\xff", "\r", "é", "日", "M", "aaaaaaaaaaaaaaaaaaaaaaaaaaa", "bot", "x-api-key", "nfoo", "u0026", "26", "xoxb-1",
}

func TestRandomTextsSettle(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	n := 60000
	if testing.Short() {
		n = 6000
	}
	lost := 0
	for range n {
		var b strings.Builder
		for range 1 + r.IntN(14) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if check(t, b.String()) == withheld {
			lost++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d texts, %d of them withheld", n, lost)
	if lost > 0 {
		t.Error("some texts did not settle")
	}
}

// check verifies the guarantees that hold for every text.
func check(t *testing.T, s string) string {
	t.Helper()
	out := Text(s)
	if again := Text(out); again != out {
		t.Errorf("not stable:\n in %q\n 1: %q\n 2: %q", s, out, again)
	}
	if !utf8.ValidString(out) || strings.ContainsFunc(out, forbidden) {
		t.Errorf("unsafe result %q of %q", out, s)
	}
	if len(out) > 6*len(s)+64 {
		t.Errorf("%d bytes became %d", len(s), len(out))
	}
	if b := []byte(s); !bytes.Equal(Bytes(b), []byte(out)) || string(b) != s {
		t.Errorf("Bytes and Text differ on %q", s)
	}
	return out
}

func FuzzText(f *testing.F) {
	for _, s := range harmlessTexts {
		f.Add(s)
	}
	for _, s := range pieces {
		f.Add(s + "=" + s)
	}
	for _, s := range hostile {
		f.Add(strings.Repeat(s, 20))
	}
	f.Add(`{"password":"hunter2","url":"postgres://u:p@h/db"} at /home/ann/x.txt`)
	f.Fuzz(func(t *testing.T, s string) { check(t, s) })
}
