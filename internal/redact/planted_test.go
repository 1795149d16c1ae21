package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// Secrets are made at run time, from parts, so that nothing in this file looks like one.

const (
	lowerAlpha    = "abcdefghijklmnopqrstuvwxyz"
	upperAlpha    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits        = "0123456789"
	hexAlphabet   = digits + "abcdef"
	alnumAlphabet = lowerAlpha + upperAlpha + digits
	urlAlphabet   = alnumAlphabet + "-_"
)

// planter makes one secret.
type planter struct {
	kind  string
	shown int // bytes that must be there before a cut secret can be known
	make  func(r *rand.Rand) string
}

func chars(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func run(kind, prefix, alphabet string, n int) planter {
	return planter{kind, len(prefix) + 12, func(r *rand.Rand) string { return prefix + chars(r, alphabet, n) }}
}

func segment(v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) }

// shaped are secrets that must go wherever they stand.
var shaped = []planter{
	run("aws-access-key", "AK"+"IA", upperAlpha+"234567", 16),
	run("aws-access-key", "AS"+"IA", upperAlpha+"234567", 16),
	run("github-token", "gh"+"p_", alnumAlphabet, 36),
	run("github-token", "gh"+"o_", alnumAlphabet, 36),
	run("github-token", "gh"+"s_", alnumAlphabet, 36),
	run("github-token", "github"+"_pat_", alnumAlphabet+"_", 82),
	run("gitlab-token", "gl"+"pat-", urlAlphabet, 20),
	run("slack-token", "xo"+"xb-", digits, 36),
	run("slack-token", "xo"+"xp-", digits+"-", 46),
	run("slack-token", "xa"+"pp-1-", upperAlpha+digits, 40),
	run("stripe-key", "sk"+"_live_", alnumAlphabet, 24),
	run("stripe-key", "sk"+"_test_", alnumAlphabet, 24),
	run("stripe-key", "rk"+"_live_", alnumAlphabet, 24),
	run("stripe-key", "wh"+"sec_", alnumAlphabet, 32),
	run("openai-key", "sk"+"-", alnumAlphabet, 48),
	run("openai-key", "sk"+"-proj-", urlAlphabet, 74),
	run("anthropic-key", "sk"+"-ant-api03-", urlAlphabet, 93),
	run("openrouter-key", "sk"+"-or-v1-", hexAlphabet, 64),
	run("google-key", "AI"+"za", urlAlphabet, 35),
	run("google-token", "ya"+"29.", urlAlphabet, 68),
	run("google-secret", "GOC"+"SPX-", urlAlphabet, 28),
	run("twilio-key", "S"+"K", hexAlphabet, 32),
	run("npm-token", "np"+"m_", alnumAlphabet, 36),
	run("pypi-token", "py"+"pi-AgEI", urlAlphabet, 150),
	run("docker-token", "dckr"+"_pat_", urlAlphabet, 27),
	run("huggingface-token", "h"+"f_", alnumAlphabet, 34),
	run("notion-token", "sec"+"ret_", alnumAlphabet, 43),
	run("notion-token", "nt"+"n_", alnumAlphabet, 46),
	run("linear-key", "lin"+"_api_", alnumAlphabet, 40),
	run("figma-token", "fi"+"gd_", urlAlphabet, 40),
	run("atlassian-token", "ATA"+"TT3x", urlAlphabet, 180),
	run("databricks-token", "da"+"pi", hexAlphabet, 32),
	run("digitalocean-token", "dop"+"_v1_", hexAlphabet, 64),
	run("shopify-token", "shp"+"at_", hexAlphabet, 32),
	run("square-token", "sq0"+"atp-", urlAlphabet, 22),
	run("mailgun-key", "ke"+"y-", hexAlphabet, 32),
	run("heroku-key", "HRK"+"U-AA", urlAlphabet, 58),
	run("vault-token", "hv"+"s.", urlAlphabet, 90),
	run("doppler-token", "dp"+".pt.", alnumAlphabet, 43),
	run("tavily-key", "tv"+"ly-", alnumAlphabet, 32),
	run("posthog-key", "ph"+"c_", alnumAlphabet, 43),
	run("posthog-key", "ph"+"x_", alnumAlphabet, 43),
	run("supabase-token", "sb"+"p_", hexAlphabet, 40),
	run("groq-key", "gs"+"k_", alnumAlphabet, 52),
	run("xai-key", "xa"+"i-", alnumAlphabet, 80),
	run("perplexity-key", "pp"+"lx-", alnumAlphabet, 48),
	run("replicate-token", "r"+"8_", alnumAlphabet, 37),
	run("apify-token", "apify"+"_api_", alnumAlphabet, 36),
	run("firecrawl-key", "f"+"c-", hexAlphabet, 32),
	run("sentry-token", "snt"+"ryu_", hexAlphabet, 64),
	run("newrelic-key", "NR"+"AK-", upperAlpha+digits, 27),
	run("grafana-token", "gl"+"sa_", alnumAlphabet, 41),
	run("planetscale-token", "pscale"+"_tkn_", urlAlphabet, 43),
	run("postman-key", "PM"+"AK-", hexAlphabet, 59),
	run("pulumi-token", "pu"+"l-", hexAlphabet, 40),
	run("rubygems-key", "ruby"+"gems_", hexAlphabet, 48),
	run("netlify-token", "nf"+"p_", alnumAlphabet, 36),
	run("brevo-key", "xkey"+"sib-", hexAlphabet, 64),
	run("age-key", "AGE"+"-SECRET-KEY-1", upperAlpha+digits, 58),
	{"sendgrid-key", 15, func(r *rand.Rand) string {
		return "S" + "G." + chars(r, urlAlphabet, 22) + "." + chars(r, urlAlphabet, 43)
	}},
	{"airtable-token", 19, func(r *rand.Rand) string {
		return "pa" + "t" + chars(r, alnumAlphabet, 13) + "7." + chars(r, hexAlphabet, 64)
	}},
	{"discord-token", 25, func(r *rand.Rand) string {
		return "M" + chars(r, alnumAlphabet, 22) + "4." + chars(r, urlAlphabet, 6) + "." + chars(r, urlAlphabet, 37) + "x"
	}},
	{"telegram-token", 21, func(r *rand.Rand) string {
		return "7" + chars(r, digits, 9) + ":A" + "A" + chars(r, urlAlphabet, 32) + "x"
	}},
	{"jwt", 12, func(r *rand.Rand) string {
		return segment(`{"alg":"HS256","typ":"JWT"}`) + "." + segment(`{"sub":"`+chars(r, digits, 10)+`"}`) + "." + chars(r, urlAlphabet, 42) + "x"
	}},
}

// place is a text in which a secret is planted; it must parse as nothing, only hold the secret.
type place struct {
	name string
	text func(secret string) string
}

var places = []place{
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

// window is the longest piece of a secret that may survive.
const window = 9

func leaked(out, secret string) string {
	for i := 0; i+window <= len(secret); i++ {
		if strings.Contains(out, secret[i:i+window]) {
			return secret[i : i+window]
		}
	}
	return ""
}

func TestNoPlantedSecretSurvives(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	planted, kinds := 0, map[string]bool{}
	for _, p := range shaped {
		for _, at := range places {
			for range 2 {
				secret := p.make(r)
				text := at.text(secret)
				out := Text(text)
				planted++
				kinds[p.kind] = true
				if piece := leaked(out, secret); piece != "" {
					t.Errorf("%s in a %s: %q is left\n  in  %q\n  out %q", p.kind, at.name, piece, text, out)
				}
				if Text(out) != out {
					t.Errorf("%s in a %s: not stable: %q", p.kind, at.name, out)
				}
			}
		}
	}
	t.Logf("%d secrets of %d kinds planted in %d places", planted, len(kinds), len(places))
	if planted < 1000 || len(kinds) < 40 {
		t.Error("too few secrets to mean anything")
	}
}

func TestSecretCutAtTheEdgeGoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	planted := 0
	for _, p := range shaped {
		for range 4 {
			secret := p.make(r)
			for n := p.shown; n < len(secret); n += 1 + len(secret)/16 {
				for _, mark := range []string{"", "…", "...", "…[+12 chars]"} {
					text := "refused: " + secret[:n] + mark
					out := Text(text)
					planted++
					if piece := leaked(out, secret[:n]); piece != "" {
						t.Errorf("%s cut at %d: %q is left in %q", p.kind, n, piece, out)
					}
				}
			}
		}
	}
	t.Logf("%d cut secrets", planted)
}

// named are values that only their name gives away.
var named = []string{
	"password", "DB_PASSWORD", "passwd", "pwd", "apiKey", "api_key", "X-Api-Key", "API_KEY", "clientSecret", "client_secret",
	"aws_secret_access_key", "AWS_SESSION_TOKEN", "private_key", "authToken", "access_token", "refresh_token", "id_token",
	"TWILIO_AUTH_TOKEN", "HEROKU_API_KEY", "sessionToken", "secret", "SECRET_KEY_BASE64", "encryptionKey", "signing_key", "webhookSecret",
	"OPENAI_API_KEY", "AccountKey", "SharedAccessKey", "passphrase", "csrf_token", "credentials", "connection_string", "dbpassword",
	"accesstoken", "PRIVATE-TOKEN", "X-Auth-Token", "bot_token", "smtp_pass", "spring.datasource.password", "npm_config_authtoken",
}

var namedForms = []string{
	"%s=%s", "%s = %s", "%s: %s", "export %s='%s'", `%s="%s"`, `{"%s":"%s"}`, `{"a":1,"%s": "%s","b":2}`, `{'%s': '%s'}`,
	`{\"%s\":\"%s\"}`, `{\\\"%s\\\":\\\"%s\\\"}`, "https://h.example/p?%s=%s&x=1", "https://h.example/p?x=1&%s=%s", "a%%26%s%%3D%s%%26b",
	`a\u0026%s\u003d%s\u0026b`, "<%s>%s</x>", "Host=db;%s=%s;Port=1", "&quot;%s&quot;:&quot;%s&quot;", "--%s %s --x", "map[%s:[%s] B:[c]]",
	"{Name:x %s:%s N:1}", "%s=%s, user=x", "['%s', '%s']", "cfg['%s'] = '%s'",
}

func TestNamedSecretGoes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	planted := 0
	for _, name := range named {
		if !Key(name) {
			t.Errorf("Key(%q) is false", name)
			continue
		}
		for _, form := range namedForms {
			for _, secret := range []string{chars(r, hexAlphabet, 32), "zq" + chars(r, alnumAlphabet, 10) + "7k", chars(r, lowerAlpha, 4) + "9-" + chars(r, hexAlphabet, 16)} {
				text := fmt.Sprintf(form, name, secret)
				out := Text(text)
				planted++
				if strings.Contains(out, secret[2:10]) {
					t.Errorf("left in %q from %q", out, text)
				}
			}
		}
	}
	t.Logf("%d named secrets", planted)
}
