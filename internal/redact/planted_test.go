package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/planted"
)

func TestNoPlantedSecretSurvives(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	count, kinds := 0, map[string]bool{}
	for _, p := range planted.Makers {
		for _, at := range planted.Templates {
			for range 2 {
				secret := p.Make(r)
				text := at.Text(secret)
				out := Text(text)
				count++
				kinds[p.Kind] = true
				if piece := planted.Leaked(out, secret); piece != "" {
					t.Errorf("%s in a %s: %q is left\n  in  %q\n  out %q", p.Kind, at.Name, piece, text, out)
				}
				if Text(out) != out {
					t.Errorf("%s in a %s: not stable: %q", p.Kind, at.Name, out)
				}
			}
		}
	}
	t.Logf("%d secrets of %d kinds planted in %d places", count, len(kinds), len(planted.Templates))
	if count < 1000 || len(kinds) < 40 {
		t.Error("too few secrets to mean anything")
	}
}

// TestNoEscapeHidesASecretInAnIdentifier checks that a secret with a known shape is found after an escape as after the plain byte.
func TestNoEscapeHidesASecretInAnIdentifier(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	policy := Policy{ShapesOnly: true}
	count := 0
	for _, p := range planted.Makers {
		secret := p.Make(r)
		if planted.Leaked(policy.Text("x="+secret), secret) != "" {
			continue // other rules recognise it
		}
		for _, before := range []string{"x%3D", "x%3d", "x%253D", "%2F", "a%20b%3A", `x\u003d`, `x\"`, "x%", `x\`} {
			count++
			out := policy.Text(before + secret)
			if piece := planted.Leaked(Text("a/"+before+secret), secret); piece != "" && before != `x\` { // which is a line's end before n
				t.Errorf("%s behind %s: %q is left in a text", p.Kind, before, piece)
			}
			if piece := planted.Leaked(out, secret); piece != "" {
				t.Errorf("%s behind %s: %q is left in %q", p.Kind, before, piece, out)
			}
			if policy.Text(out) != out {
				t.Errorf("%s behind %s: not stable: %q", p.Kind, before, out)
			}
		}
	}
	t.Logf("%d secrets", count)
	if count < 300 {
		t.Error("too few secrets to mean anything")
	}
}

func TestSecretCutAtTheEdgeGoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	count := 0
	for _, p := range planted.Makers {
		for range 4 {
			secret := p.Make(r)
			for n := p.Shown; n < len(secret); n += 1 + len(secret)/16 {
				for _, mark := range []string{"", "…", "...", "…[+12 chars]"} {
					text := "refused: " + secret[:n] + mark
					out := Text(text)
					count++
					if piece := planted.Leaked(out, secret[:n]); piece != "" {
						t.Errorf("%s cut at %d: %q is left in %q", p.Kind, n, piece, out)
					}
				}
			}
		}
	}
	t.Logf("%d cut secrets", count)
}

// named are names that make their value a secret.
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
	count := 0
	for _, name := range named {
		if !Key(name) {
			t.Errorf("Key(%q) is false", name)
			continue
		}
		for _, form := range namedForms {
			for _, secret := range []string{planted.Chars(r, planted.Hex, 32), "zq" + planted.Chars(r, planted.Alnum, 10) + "7k", planted.Chars(r, planted.LowerAlpha, 4) + "9-" + planted.Chars(r, planted.Hex, 16)} {
				text := fmt.Sprintf(form, name, secret)
				out := Text(text)
				count++
				if strings.Contains(out, secret[2:10]) {
					t.Errorf("left in %q from %q", out, text)
				}
			}
		}
	}
	t.Logf("%d named secrets", count)
}
