package redact

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/planted"
)

// ruleSet has the same prefixes and the generic rule of gitleaks for a value after a name, as such rule sets have it.
func ruleSet() *regexp.Regexp {
	var alts []string
	for _, sh := range shapes {
		alts = append(alts, fmt.Sprintf(`%s[A-Za-z0-9_\-.+/=]{%d,}`, regexp.QuoteMeta(sh.prefix), sh.min))
	}
	alts = append(alts, `eyJ[\w-]+\.[\w-]+\.[\w-]+`, `-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END`,
		`(?i)[\w.-]{0,50}?(?:access|auth|api|credential|creds|key|passw(?:or)?d|secret|token)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}[\w.=-]{10,150}`)
	return regexp.MustCompile(strings.Join(alts, "|"))
}

// TestRulesFindMoreThanRegularExpressions prints the figures of the decision to keep hand-written rules: secrets that each way leaves
// in a text, and clean texts of the corpus that it changes. The corpus is not in the repository; without it the second part is left out.
func TestRulesFindMoreThanRegularExpressions(t *testing.T) {
	big, set := bigRegexp(), ruleSet()
	ways := []struct {
		name   string
		redact func(string) string
	}{
		{"rules", Text},
		{"one regular expression", func(s string) string { return big.ReplaceAllString(s, "[redacted]") }},
		{"rule set", func(s string) string { return set.ReplaceAllString(s, "[redacted]") }},
	}
	left := make([]int, len(ways))
	for i, way := range ways {
		r := rand.New(rand.NewPCG(7, 8))
		total := 0
		check := func(text, secret string) {
			total++
			if planted.Leaked(way.redact(text), secret) != "" {
				left[i]++
			}
		}
		for _, p := range planted.Makers {
			for _, at := range planted.Templates {
				secret := p.Make(r)
				check(at.Text(secret), secret)
			}
		}
		for _, name := range named {
			for _, form := range namedForms {
				secret := "zq" + planted.Chars(r, planted.Alnum, 14) + "7k"
				check(fmt.Sprintf(form, name, secret), secret)
			}
		}
		t.Logf("%s: %d of %d secrets left", way.name, left[i], total)
	}
	if left[0] != 0 || left[1] == 0 || left[2] == 0 {
		t.Errorf("secrets left: %v", left)
	}
	if testing.Short() {
		return
	}
	for _, way := range ways {
		changed, records := 0, 0
		for n, rec := range readCorpus(t, "real-servers.jsonl.gz") {
			if n%20 != 0 || strings.Contains(string(rec.Response), dummy) { // the regular expressions are slow
				continue
			}
			records++
			for _, s := range texts(rec.Response) {
				if out := way.redact(s); out != s && !allowedChange(s, out) {
					changed++
					break
				}
			}
		}
		t.Logf("%s: %d of %d clean answers changed", way.name, changed, records)
	}
}
