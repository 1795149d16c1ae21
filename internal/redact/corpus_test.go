package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/corpus"
)

// dummy is part of every credential that the recorded servers used.
const dummy = "zz9" + "secret"

// readCorpus reads a recorded corpus beside the repository, or skips the test.
func readCorpus(t *testing.T, name string) []corpus.Record {
	t.Helper()
	records, err := corpus.Load(name)
	if errors.Is(err, corpus.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// texts collects every string of a JSON value.
func texts(raw json.RawMessage) (list []string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		tok, err := d.Token()
		if err != nil {
			return list
		}
		if s, ok := tok.(string); ok {
			list = append(list, s)
		}
	}
}

// realPath matches the paths of the machines in the records. It is slower and coarser than the package's rules on purpose.
var realPath = regexp.MustCompile(`(?:/(?:home|root|Users|var|tmp|etc|usr|opt|srv|mnt|workspace|app|data|private|proc|nonexistent|path|work|x|dev)/|~/|[A-Za-z]:\\|file://|/[\w.@-]+(?:/[\w.@-]+)*\.\w{1,5}\b)`)

func TestNoSecretOfTheCorpusSurvives(t *testing.T) {
	found := 0
	for _, r := range readCorpus(t, corpus.Failures) {
		for _, raw := range []string{string(r.Request), string(r.Response)} {
			if !strings.Contains(raw, dummy) {
				continue
			}
			found++
			if out := Text(raw); strings.Contains(out, dummy) {
				t.Errorf("%s %s: the raw message keeps its secret: %.300s", r.Server, r.Tool, out)
			}
			for _, s := range texts(json.RawMessage(raw)) {
				if out := Text(s); strings.Contains(out, dummy) {
					t.Errorf("%s %s: a secret is left in %.300q", r.Server, r.Tool, out)
				}
			}
		}
	}
	t.Logf("texts with a secret: %d", found)
}

func TestCleanTextsOfTheCorpusStay(t *testing.T) {
	for _, name := range []string{corpus.Failures, corpus.Successes} {
		records, changed, stringsSeen := 0, 0, 0
		for _, r := range readCorpus(t, name) {
			if strings.Contains(string(r.Response), dummy) {
				continue
			}
			records++
			wrong := false
			for _, s := range texts(r.Response) {
				stringsSeen++
				if out := Text(s); out != s && !allowedChange(s, out) {
					wrong = true
					t.Logf("%s %s:\n  %.400q\n  %.400q", r.Server, r.Tool, around(s, out), around(out, s))
				}
			}
			if wrong {
				changed++
			}
		}
		t.Logf("%s: %d of %d clean records changed (%.2f %%), %d strings", name, changed, records, 100*float64(changed)/float64(records), stringsSeen)
		if changed*100 > records {
			t.Errorf("%s: more than 1 %% of clean records changed", name)
		}
	}
}

// allowedChange reports whether only paths or characters have changed.
func allowedChange(s, out string) bool {
	if strings.Count(out, opening) != strings.Count(s, opening) {
		return false
	}
	return realPath.MatchString(s) || clean(s) != s
}

// around shows the position at which two strings differ.
func around(s, other string) string {
	i := 0
	for i < min(len(s), len(other)) && s[i] == other[i] {
		i++
	}
	return s[max(0, i-60):min(len(s), i+100)]
}
