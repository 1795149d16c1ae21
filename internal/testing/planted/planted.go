// Package planted makes secrets and texts that hold one, for the tests that look whether a secret gets out.
//
// Secrets are made at run time, from parts, so that nothing in this package looks like one.
package planted

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
)

// The alphabets that other tests make secrets of.
const (
	LowerAlpha  = "abcdefghijklmnopqrstuvwxyz"
	upperAlpha  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits      = "0123456789"
	Hex         = digits + "abcdef"
	Alnum       = LowerAlpha + upperAlpha + digits
	urlAlphabet = Alnum + "-_"
)

// Maker makes secrets of one kind.
type Maker struct {
	Kind  string
	Shown int // bytes that must be there before a cut secret can be known
	Make  func(r *rand.Rand) string
}

// Chars returns n letters of an alphabet.
func Chars(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func readRuns() (all []Maker) {
	for row := range strings.SplitSeq(strings.TrimSuffix(runs, ";"), ";") {
		f := strings.Fields(row)
		n, err := strconv.Atoi(f[3])
		if err != nil {
			panic(err) // programmer: the rows are above
		}
		all = append(all, Maker{f[0], len(f[1]) + 12, func(r *rand.Rand) string { return f[1] + Chars(r, alphabets[f[2]], n) }})
	}
	return all
}

func segment(v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) }

// alphabets are the alphabets of runs by their names.
var alphabets = map[string]string{
	"alnum": Alnum, "url": urlAlphabet, "digits": digits, "hex": Hex, "base32": upperAlpha + "234567", "word": Alnum + "_",
	"dashed": digits + "-", "upper": upperAlpha + digits,
}

// runs are secrets of a prefix and a number of letters of an alphabet.
const runs = `aws-access-key AKIA base32 16; aws-access-key ASIA base32 16; github-token ghp_ alnum 36;
	github-token gho_ alnum 36; github-token ghs_ alnum 36; github-token github_pat_ word 82;
	gitlab-token glpat- url 20; slack-token xoxb- digits 36; slack-token xoxp- dashed 46;
	slack-token xapp-1- upper 40; stripe-key sk_live_ alnum 24; stripe-key sk_test_ alnum 24;
	stripe-key rk_live_ alnum 24; stripe-key whsec_ alnum 32; openai-key sk- alnum 48;
	openai-key sk-proj- url 74; anthropic-key sk-ant-api03- url 93; openrouter-key sk-or-v1- hex 64;
	google-key AIza url 35; google-token ya29. url 68; google-secret GOCSPX- url 28; twilio-key SK hex 32;
	npm-token npm_ alnum 36; pypi-token pypi-AgEI url 150; docker-token dckr_pat_ url 27;
	huggingface-token hf_ alnum 34; notion-token secret_ alnum 43; notion-token ntn_ alnum 46;
	linear-key lin_api_ alnum 40; figma-token figd_ url 40; atlassian-token ATATT3x url 180;
	databricks-token dapi hex 32; digitalocean-token dop_v1_ hex 64; shopify-token shpat_ hex 32;
	square-token sq0atp- url 22; mailgun-key key- hex 32; heroku-key HRKU-AA url 58; vault-token hvs. url 90;
	doppler-token dp.pt. alnum 43; tavily-key tvly- alnum 32; posthog-key phc_ alnum 43;
	posthog-key phx_ alnum 43; supabase-token sbp_ hex 40; groq-key gsk_ alnum 52; xai-key xai- alnum 80;
	perplexity-key pplx- alnum 48; replicate-token r8_ alnum 37; apify-token apify_api_ alnum 36;
	firecrawl-key fc- hex 32; sentry-token sntryu_ hex 64; newrelic-key NRAK- upper 27;
	grafana-token glsa_ alnum 41; planetscale-token pscale_tkn_ url 43; postman-key PMAK- hex 59;
	pulumi-token pul- hex 40; rubygems-key rubygems_ hex 48; netlify-token nfp_ alnum 36;
	brevo-key xkeysib- hex 64; age-key AGE-SECRET-KEY-1 upper 58;`

// Makers make the secrets that must be removed everywhere.
var Makers = append(readRuns(), []Maker{
	{"sendgrid-key", 15, func(r *rand.Rand) string {
		return "S" + "G." + Chars(r, urlAlphabet, 22) + "." + Chars(r, urlAlphabet, 43)
	}},
	{"airtable-token", 19, func(r *rand.Rand) string {
		return "pa" + "t" + Chars(r, Alnum, 13) + "7." + Chars(r, Hex, 64)
	}},
	{"discord-token", 25, func(r *rand.Rand) string {
		return "M" + Chars(r, Alnum, 22) + "4." + Chars(r, urlAlphabet, 6) + "." + Chars(r, urlAlphabet, 37) + "x"
	}},
	{"telegram-token", 21, func(r *rand.Rand) string {
		return "7" + Chars(r, digits, 9) + ":A" + "A" + Chars(r, urlAlphabet, 32) + "x"
	}},
	{"jwt", 12, func(r *rand.Rand) string {
		return segment(`{"alg":"HS256","typ":"JWT"}`) + "." + segment(`{"sub":"`+Chars(r, digits, 10)+`"}`) + "." + Chars(r, urlAlphabet, 42) + "x"
	}},
}...)

// Template is a text in which a secret is planted; it need not parse as anything, only hold the secret.
type Template struct {
	Name string
	Text func(secret string) string
}

// Templates are the texts in which servers have been seen to show secrets.
var Templates = []Template{
	{"sentence", func(s string) string { return "The upstream refused " + s + " for this account." }},
	{"message", func(s string) string {
		return "Incorrect API key provided: " + s + ". You can find your API key in the console."
	}},
	{"query", func(s string) string {
		return "GET https://api.example.com/v1/items?limit=3&access_token=" + s + "&page=2 failed"
	}},
	{"path of a URL", func(s string) string { return "request to https://api.example.com/v1/" + s + "/items failed" }},
	{"userinfo", func(s string) string { return "cloning https://bot:" + s + "@git.example.com/a/b.git" }},
	{"header", func(s string) string {
		return "> POST /v1/x HTTP/1.1\n> Authorization: Bearer " + s + "\n> Accept: */*"
	}},
	{"json", func(s string) string {
		b, _ := json.Marshal(map[string]any{"error": "denied", "key": s, "n": 1})
		return string(b)
	}},
	{"json in json", func(s string) string {
		b, _ := json.Marshal(map[string]any{"apiKey": s})
		b, _ = json.Marshal(string(b))
		return string(b)
	}},
	{"encoded", func(s string) string { return "redirect=" + url.QueryEscape("https://x.example/?token="+s+"&a=b") }},
	{"escaped line", func(s string) string { return `config:\n` + s + `\nend` }},
	{"stderr", func(s string) string {
		return "2026-01-02T03:04:05Z ERROR boot\nAPP_TOKEN=" + s + "\nnode:internal/process:1\n    at run (/srv/app/x.js:1:2)\n"
	}},
	{"panic", func(s string) string {
		return "panic: bad credential \"" + s + "\"\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/u/main.go:12 +0x1d\n"
	}},
	{"struct", func(s string) string { return "{Host:db Token:" + s + " Port:5432}" }},
	{"list", func(s string) string { return "['--header', '" + s + "', '--verbose']" }},
	{"shell", func(s string) string { return "Command failed: tool --api-key " + s + " --verbose" }},
	{"cut", func(s string) string { return "The upstream refused " + s + "…" }},
}

// Across is a text in which a secret lies across an edge, by another part of it each turn.
func Across(edge, turn int, secret string) string {
	inside := []int{9, 12, len(secret) / 2, len(secret) - 1}[turn%4] // bytes of it before the edge
	return strings.Repeat("word ", edge/5+1)[:edge-1-inside] + " " + secret + " and more"
}

// window is the longest piece of a secret that may survive.
const window = 9

// Leaked returns a piece of a secret that is left in out, or "".
func Leaked(out, secret string) string {
	for i := 0; i+window <= len(secret); i++ {
		if strings.Contains(out, secret[i:i+window]) {
			return secret[i : i+window]
		}
	}
	return ""
}

// Page is a text that many may write at once, such as a log. The zero value is empty.
type Page struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

// Write adds to the text. It never fails.
func (p *Page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

// String returns all that was written.
func (p *Page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// Files returns the bytes of all files below a folder.
func Files(dir string) (string, error) {
	var all strings.Builder
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		all.Write(b)
		return err
	})
	return all.String(), err
}

// Secret is a secret that was planted somewhere.
type Secret struct{ Way, Kind, Text string }

// Sweep finds pieces of many secrets in a text in one pass. They are longer than those of [Leaked], because a ledger is full of digests.
type Sweep struct {
	of    map[string]Secret
	begin []bool // by a digest of the first bytes: nearly all of a text is passed over at little cost
}

// sweepBytes is the length of a piece.
const sweepBytes = 12

// NewSweep returns a sweep that looks for nothing yet.
func NewSweep() *Sweep { return &Sweep{map[string]Secret{}, make([]bool, 1<<20)} }

// Add has it look for a secret.
func (s *Sweep) Add(secret Secret) {
	for i := 0; i+sweepBytes <= len(secret.Text); i++ {
		s.of[secret.Text[i:i+sweepBytes]] = secret
		s.begin[digest4(secret.Text[i:])] = true
	}
}

// Over returns what is left of secrets in a text that is found somewhere: a sentence for each way in which one got there.
func (s *Sweep) Over(where, text string) (leaks []string) {
	seen := map[string]bool{}
	for i := 0; i+sweepBytes <= len(text); i++ {
		if !s.begin[digest4(text[i:])] {
			continue
		}
		piece := text[i : i+sweepBytes]
		if p, ok := s.of[piece]; ok && !seen[p.Way] {
			seen[p.Way] = true
			leaks = append(leaks, fmt.Sprintf("%s (%s): %s has %q of %q: %s", p.Way, p.Kind, where, piece, p.Text, text[max(0, i-200):min(len(text), i+200)]))
		}
	}
	return leaks
}

func digest4(s string) uint32 {
	return (uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24) * 2654435761 >> 12
}
