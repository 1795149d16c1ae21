// Package planted makes secrets and texts that hold one, for the tests that look whether a secret gets out.
//
// Secrets are made at run time, from parts, so that nothing in this package looks like one.
package planted

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"strings"
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

func run(kind, prefix, alphabet string, n int) Maker {
	return Maker{kind, len(prefix) + 12, func(r *rand.Rand) string { return prefix + Chars(r, alphabet, n) }}
}

func segment(v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) }

// Makers make the secrets that must go wherever they stand.
var Makers = []Maker{
	run("aws-access-key", "AK"+"IA", upperAlpha+"234567", 16),
	run("aws-access-key", "AS"+"IA", upperAlpha+"234567", 16),
	run("github-token", "gh"+"p_", Alnum, 36),
	run("github-token", "gh"+"o_", Alnum, 36),
	run("github-token", "gh"+"s_", Alnum, 36),
	run("github-token", "github"+"_pat_", Alnum+"_", 82),
	run("gitlab-token", "gl"+"pat-", urlAlphabet, 20),
	run("slack-token", "xo"+"xb-", digits, 36),
	run("slack-token", "xo"+"xp-", digits+"-", 46),
	run("slack-token", "xa"+"pp-1-", upperAlpha+digits, 40),
	run("stripe-key", "sk"+"_live_", Alnum, 24),
	run("stripe-key", "sk"+"_test_", Alnum, 24),
	run("stripe-key", "rk"+"_live_", Alnum, 24),
	run("stripe-key", "wh"+"sec_", Alnum, 32),
	run("openai-key", "sk"+"-", Alnum, 48),
	run("openai-key", "sk"+"-proj-", urlAlphabet, 74),
	run("anthropic-key", "sk"+"-ant-api03-", urlAlphabet, 93),
	run("openrouter-key", "sk"+"-or-v1-", Hex, 64),
	run("google-key", "AI"+"za", urlAlphabet, 35),
	run("google-token", "ya"+"29.", urlAlphabet, 68),
	run("google-secret", "GOC"+"SPX-", urlAlphabet, 28),
	run("twilio-key", "S"+"K", Hex, 32),
	run("npm-token", "np"+"m_", Alnum, 36),
	run("pypi-token", "py"+"pi-AgEI", urlAlphabet, 150),
	run("docker-token", "dckr"+"_pat_", urlAlphabet, 27),
	run("huggingface-token", "h"+"f_", Alnum, 34),
	run("notion-token", "sec"+"ret_", Alnum, 43),
	run("notion-token", "nt"+"n_", Alnum, 46),
	run("linear-key", "lin"+"_api_", Alnum, 40),
	run("figma-token", "fi"+"gd_", urlAlphabet, 40),
	run("atlassian-token", "ATA"+"TT3x", urlAlphabet, 180),
	run("databricks-token", "da"+"pi", Hex, 32),
	run("digitalocean-token", "dop"+"_v1_", Hex, 64),
	run("shopify-token", "shp"+"at_", Hex, 32),
	run("square-token", "sq0"+"atp-", urlAlphabet, 22),
	run("mailgun-key", "ke"+"y-", Hex, 32),
	run("heroku-key", "HRK"+"U-AA", urlAlphabet, 58),
	run("vault-token", "hv"+"s.", urlAlphabet, 90),
	run("doppler-token", "dp"+".pt.", Alnum, 43),
	run("tavily-key", "tv"+"ly-", Alnum, 32),
	run("posthog-key", "ph"+"c_", Alnum, 43),
	run("posthog-key", "ph"+"x_", Alnum, 43),
	run("supabase-token", "sb"+"p_", Hex, 40),
	run("groq-key", "gs"+"k_", Alnum, 52),
	run("xai-key", "xa"+"i-", Alnum, 80),
	run("perplexity-key", "pp"+"lx-", Alnum, 48),
	run("replicate-token", "r"+"8_", Alnum, 37),
	run("apify-token", "apify"+"_api_", Alnum, 36),
	run("firecrawl-key", "f"+"c-", Hex, 32),
	run("sentry-token", "snt"+"ryu_", Hex, 64),
	run("newrelic-key", "NR"+"AK-", upperAlpha+digits, 27),
	run("grafana-token", "gl"+"sa_", Alnum, 41),
	run("planetscale-token", "pscale"+"_tkn_", urlAlphabet, 43),
	run("postman-key", "PM"+"AK-", Hex, 59),
	run("pulumi-token", "pu"+"l-", Hex, 40),
	run("rubygems-key", "ruby"+"gems_", Hex, 48),
	run("netlify-token", "nf"+"p_", Alnum, 36),
	run("brevo-key", "xkey"+"sib-", Hex, 64),
	run("age-key", "AGE"+"-SECRET-KEY-1", upperAlpha+digits, 58),
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
}

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
