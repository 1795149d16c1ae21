package gateway

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway/servername"
	"github.com/candor-mcp/candor/wire"
)

// introduce passes an answer to initialize with a name of the server, which is JSON.
func introduce(u *Upstream, name string) {
	m := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":`+name+`,"version":"1"}}}`), wire.Limits{})
	u.Describe(&m, "")
}

func TestUpstreamHasTheNameOfTheServer(t *testing.T) {
	t.Parallel()
	long, err := json.Marshal(strings.Repeat("x y ", 1<<16))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		`"weather"`: "weather", `"two\nlines\u001b[31m"`: "two lines [31m", `""`: "before", `"npx"`: "before", `7`: "before", `null`: "before", `"of-the-key"`: "before-or-redacted",
	} {
		u := New(Options{Name: "before", LearnName: true})
		u.Secrets.Store(CommandSecrets([]string{"API_TOKEN=of-the-key-4f9d2c7b1a"}, nil))
		introduce(u, strings.Replace(name, "of-the-key", "of-the-key-4f9d2c7b1a", 1))
		if want == "before-or-redacted" {
			if strings.Contains(u.Name(), "4f9d2c7b1a") {
				t.Errorf("the name %q has a secret", u.Name())
			}
			continue
		}
		if u.Name() != want {
			t.Errorf("%s: got %q, want %q", name, u.Name(), want)
		}
	}
	u := New(Options{Name: "before", LearnName: true})
	introduce(u, string(long))
	if len(u.Name()) > servername.MaxBytes {
		t.Errorf("the name has %d bytes", len(u.Name()))
	}
	fixed := New(Options{Name: "chosen"})
	introduce(fixed, `"weather"`)
	if fixed.Name() != "chosen" {
		t.Errorf("the server replaced the chosen name by %q", fixed.Name())
	}
}

func TestLogLinesHaveTheNameThatWasLearned(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	u := New(Options{Name: "before", LearnName: true, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	u.Options.Logger.Info("one", slog.Int("a", 1))
	introduce(u, `"weather"`)
	u.Options.Logger.With(slog.Int("b", 2)).Info("two", slog.Int("a", 1))
	if text := out.String(); !strings.Contains(text, "msg=one upstream=before a=1\n") || !strings.Contains(text, "msg=two b=2 upstream=weather a=1\n") {
		t.Errorf("logged %s", text)
	}
}
