package config_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
)

func parseShare(text string) (*config.File, error) {
	return config.Parse("candor.yaml", []byte("version: 1\n"+text), config.Source{Getenv: func(name string) string { return "value of " + name }})
}

func TestShareOfUpstreams(t *testing.T) {
	f, err := parseShare(`share: nats://10.0.0.1:4222?node=web-1
shareKey: ${KEY}
upstreams:
  far: {url: "https://api.example/mcp"}
  off: {url: "https://api.example/mcp", share: false}
  near: {url: "http://127.0.0.1:3000/mcp"}
  same: {url: "http://localhost:3000/mcp", share: true}
  command: {command: [server]}
`)
	if err != nil {
		t.Fatal(err)
	}
	if f.Share != "nats://10.0.0.1:4222?node=web-1" || f.ShareKey != "value of KEY" || f.ShareKeyEnv != "KEY" {
		t.Errorf("%q %q %q", f.Share, f.ShareKey, f.ShareKeyEnv)
	}
	for i, want := range []bool{true, false, false, true, false} {
		if u := &f.Upstreams[i]; u.IsShared() != want {
			t.Errorf("%s: shared %t", u.Name, u.IsShared())
		}
	}
}

func TestBadShareIsRefusedWithoutItsPassword(t *testing.T) {
	const upstream = "\nupstreams: {a: {url: \"https://api.example/mcp\"}}\n"
	for text, want := range map[string]string{
		"share: nats://u:hunter2@h":          "password",
		"share: http://u:hunter2@h":          "neither",
		"share: nats:///hunter2":             "no host",
		"share: \"nats://%zz:hunter2@h\"":    "not a URL",
		"share: [hunter2]":                   "this is",
		"share: nats://h\nshareKey: hunter2": "never written",
	} {
		_, err := parseShare(text + upstream)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q and no secret", text, err, want)
		}
	}
	_, err := parseShare("upstreams: {a: {command: [server], share: true}}\n")
	if err == nil || !strings.Contains(err.Error(), "share is for a url") {
		t.Errorf("a command: %v", err)
	}
}
