package config_test

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

var update = flag.Bool("update", false, "write what the reader says, the schema and the reference")

// source has an environment with one secret, and the profile as its only file.
var source = config.Source{
	Getenv: func(name string) string { return map[string]string{"CANDOR_TOKEN": "s3cret", "KEY": "k3y"}[name] },
	ReadFile: func(name string) ([]byte, error) {
		if text, ok := map[string]string{"etc/github.profile.yaml": goodProfile, "etc/bad.profile.yaml": "version: 1\nmask: []\n"}[name]; ok {
			return []byte(text), nil
		}
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	},
}

const goodProfile = `version: 1
server: github
masks:
  - {tool: "get_*", path: /ok, equals: false}
codes:
  - {said: "E42", code: RATE_LIMITED, note: seen in a probe}
results:
  - {tool: export, note: seen in a probe}
`

func parse(t *testing.T, text string) *config.File {
	t.Helper()
	f, err := config.Parse("etc/candor.yaml", []byte(text), source)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return f
}

// TestProblemsHavePositionLineAndHint compares the messages for invalid files byte for byte.
func TestProblemsHavePositionLineAndHint(t *testing.T) {
	const name = "testdata/problems.txtar"
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		in, want := archive.Files[i], &archive.Files[i+1]
		_, err := config.Parse("candor.yaml", in.Data, source)
		if _, ok := errors.AsType[*config.Error](err); !ok {
			t.Errorf("%s is accepted, or not refused as a file: %v", in.Name, err)
			continue
		}
		got := err.Error() + "\n"
		if *update {
			want.Data = []byte(got)
			continue
		}
		if diff := cmp.Diff(string(want.Data), got); diff != "" {
			t.Errorf("%s:\n%s", in.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const whole = `# everything there is
version: 1
listen: 127.0.0.1:9000
admin: "[::1]:9001"
token: ${CANDOR_TOKEN}
hosts: [gate.example]
origins: ["https://app.example"]
ledger: trail
drain: 3s
mode: observe
dialect: sep3313
timeout: 40s
limits: {message: 1MiB, calls: 7, sessions: 9, streams: 10, idle: 2m, patience: 5s}
upstreams:
  github:
    url: https://api.example/mcp?x=1
    mode: strict
    timeout: none
    dialect: dual
    speaks: tool-error
    tools:
      slow: {timeout: 10m, validate: off}
      endless: {timeout: none}
    retry: 2
    breaker: {failures: 4, rest: 1s}
    repeats: {after: 3, window: 30s}
    validate: strict
    headers: {X-Api-Key: "${KEY}", X-Team: "blue"}
    profile: github.profile.yaml
    masks:
      - tool: search
        text: '^ERROR'
        except: fine
        code: UPSTREAM_ERROR
        retry: 30s
    codes:
      - {tool: search, text: quota, code: QUOTA_EXCEEDED}
    results: [{tool: "list_*"}]
  files:
    command: [npx, -y, server-files]
    env: {ROOT: /srv, API_KEY: "${KEY}"}
    shared: true
    restart: 3
    retry: 2
    breaker: off
    repeats: off
    validate: off
`

func TestEveryKeyIsUnderstood(t *testing.T) {
	f := parse(t, whole)
	if f.Listen != "127.0.0.1:9000" || f.Admin != "[::1]:9001" || f.Token != "s3cret" || f.TokenEnv != "CANDOR_TOKEN" || f.Ledger != "etc/trail" || f.Drain != 3*time.Second {
		t.Errorf("got %+v", f)
	}
	if len(f.Upstreams) != 2 {
		t.Fatalf("%d upstreams", len(f.Upstreams))
	}
	g, files := f.Upstreams[0], f.Upstreams[1]
	if g.Name != "github" || g.URL.String() != "https://api.example/mcp?x=1" || g.Profile != "etc/github.profile.yaml" {
		t.Errorf("got %+v", g)
	}
	o := g.Options
	if o.Mode != gateway.ModeStrict || o.Dialect.Name() != "dual" || o.Speaks != "tool-error" || o.Timeout >= 0 || o.Validate != gateway.ValidationStrict || o.ValidateTools["slow"] != gateway.ValidationOff ||
		o.Timeouts["slow"] != 10*time.Minute || o.Timeouts["endless"] >= 0 {
		t.Errorf("got %+v", o)
	}
	if o.Retry != (gateway.RetryPolicy{Attempts: 3}) || o.Breaker != (gateway.BreakerPolicy{Failures: 4, TrialInterval: time.Second}) ||
		o.Repeats != (gateway.RepeatPolicy{After: 3, Window: 30 * time.Second}) {
		t.Errorf("got %+v", o)
	}
	if o.Limits.Message.MaxBytes != 1<<20 || o.Limits.Calls != 7 {
		t.Errorf("got %+v", o.Limits)
	}
	if g.HTTP.Token != "s3cret" || g.HTTP.Header.Get("X-Api-Key") != "k3y" || g.HTTP.Sessions != 9 || g.HTTP.Streams != 10 ||
		g.HTTP.SessionIdleTimeout != 2*time.Minute || g.HTTP.ClientTimeout != 5*time.Second || g.HTTP.Hosts[0] != "gate.example" || g.HTTP.Origins[0] != "https://app.example" {
		t.Errorf("got %+v", g.HTTP)
	}
	if files.Options.Mode != gateway.ModeObserve || files.Options.Dialect.Name() != "sep3313" || files.Options.Timeout != 40*time.Second ||
		!files.Options.Breaker.Off || files.Options.Validate != gateway.ValidationOff || !files.Options.Repeats.Off || files.Options.Retry.Attempts != 3 || strings.Join(files.Command, " ") != "npx -y server-files" ||
		strings.Join(files.Env, " ") != "ROOT=/srv API_KEY=k3y" || !files.Shared || files.Restart != 3 {
		t.Errorf("got %+v", files)
	}
}

// TestRulesOfTheFileComeBeforeThoseOfTheProfile checks the order, because the rules of the file are more specific.
func TestRulesOfTheFileComeBeforeThoseOfTheProfile(t *testing.T) {
	rules := parse(t, whole).Upstreams[0].Options.Rules
	if want := []gateway.ResultRule{{Tool: "list_*"}, {Tool: "export"}}; !slices.Equal(rules.Results, want) {
		t.Errorf("result rules %+v", rules.Results)
	}
	if len(rules.Masks) != 2 || len(rules.Codes) != 2 {
		t.Fatalf("got %+v", rules)
	}
	if m := rules.Masks[0]; m.Tool != "search" || m.Text != "^ERROR" || m.Except != "fine" || m.Code != candor.CodeUpstreamError || m.Retry.After() != 30*time.Second {
		t.Errorf("got %+v", m)
	}
	if m := rules.Masks[1]; m.Tool != "get_*" || m.Path != "/ok" || m.Equals != "false" {
		t.Errorf("got %+v", m)
	}
	if rules.Codes[0].Code != candor.CodeQuotaExceeded || rules.Codes[1].Said != "E42" {
		t.Errorf("got %+v", rules.Codes)
	}
}

func TestASmallFileHasGoodDefaults(t *testing.T) {
	f := parse(t, "version: 1\nupstreams: {a: {url: http://127.0.0.1:1/mcp}}\n")
	if f.Listen != config.DefaultListen || f.Drain != config.DefaultDrain || f.Ledger != "" || f.Admin != "" || f.Upstreams[0].Options.Validate != "" {
		t.Errorf("got %+v", f)
	}
}

func TestEqualsKeepsTheValueOfTheFile(t *testing.T) {
	for text, want := range map[string]string{
		"false": "false", `"false"`: `"false"`, "null": "null", "12": "12", "1.50": "1.50", "failed": `"failed"`, `"a \"b\" <c>"`: `"a \"b\" <c>"`,
	} {
		f := parse(t, "version: 1\nupstreams: {a: {url: http://h/, masks: [{tool: t, path: /p, equals: "+text+"}]}}\n")
		if got := f.Upstreams[0].Options.Rules.Masks[0].Equals; got != want {
			t.Errorf("equals: %s is %s, want %s", text, got, want)
		}
	}
}

func TestProblemOfAProfileNamesTheProfile(t *testing.T) {
	_, err := config.Parse("etc/candor.yaml", []byte("version: 1\nupstreams: {a: {url: http://h/, profile: bad.profile.yaml}}\n"), source)
	if err == nil || !strings.HasPrefix(err.Error(), `etc/bad.profile.yaml:2:1: the profile has no key "mask"`) {
		t.Errorf("got %v", err)
	}
}

func TestNoSecretIsShown(t *testing.T) {
	for _, text := range []string{
		"version: 1\ntoken: hunter2hunter2\nupstreams: {}\n",
		"version: 1\ntoken: [hunter2hunter2]\nupstreams: {}\n",
		"version: 1\nupstreams:\n  a:\n    url: http://h/\n    headers:\n      Authorization: Bearer hunter2hunter2\n",
		"version: 1\nupstreams:\n  a:\n    command: [x]\n    env: {API_KEY: hunter2hunter2}\n",
		"version: 1\nupstreams: {a: {url: 'http://me:hunter2hunter2@h/'}}\n",
	} {
		_, err := config.Parse("candor.yaml", []byte(text), source)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(goodProfile))
	f.Add([]byte("version: 1\nupstreams: &a {b: *a}\n"))
	f.Add([]byte("[[[[{{{{? ? ? - - -"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := config.Parse("candor.yaml", data, source)
		if _, ok := errors.AsType[*config.Error](err); err != nil && (!ok || file != nil) {
			t.Errorf("%v, %v", file, err)
		}
		_, err = config.ParseProfile("profile.yaml", data)
		if e, ok := errors.AsType[*config.Error](err); err != nil && (!ok || len(e.Problems) > config.MaxProblems) {
			t.Error(err)
		}
	})
}
