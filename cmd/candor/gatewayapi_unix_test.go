//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ask sends a request to the admin address. Each header is written as Name: value; Host replaces the host.
func (g *gate) ask(t *testing.T, method, path string, headers ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, g.admin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

// The secrets in the environment of every program that tests launch.
const (
	adminToken = "a-token-for-the-test"
	serverKey  = "the-key-for-the-test"
)

// newAdminGate starts a gateway whose API allows changes. Its configuration has secrets.
func newAdminGate(t *testing.T, web *webServer) *gate {
	t.Helper()
	file := filepath.Join(t.TempDir(), "candor.yaml")
	g := &gate{config: file}
	g.write(t, adminConfig(web, ""))
	return gateAt(t, file)
}

func adminConfig(web *webServer, settings string) string {
	return "adminToken: ${CANDOR_TEST_ADMIN}\nwatch: false\n" + configText(web.URL, "    headers: {Authorization: \"Bearer ${CANDOR_TEST_KEY}\"}\n"+settings) +
		"  cat:\n    command: [cat, --password=hunter2secret]\n    restart: 2\n"
}

// TestGatewayAPIAnswersAsDescribed compares every answer with its schema in the OpenAPI file, and looks for secrets in it. It is one
// function because all answers are from one gateway.
func TestGatewayAPIAnswersAsDescribed(t *testing.T) {
	t.Parallel()
	g := newAdminGate(t, newWebServer(t))
	for i, tool := range []string{"echo", "fail", "echo"} {
		g.mustCall(t, i, tool)
	}
	_, _, text := g.ask(t, "GET", "/api/v1/openapi.json")
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	check := func(what, schema, answer string) {
		t.Helper()
		compiler := jsonschema.NewCompiler()
		compiler.DefaultDraft(jsonschema.Draft2020)
		if err := compiler.AddResource("api.json", doc); err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := compiler.MustCompile("api.json#/components/schemas/" + schema).Validate(value); err != nil {
			t.Errorf("%s: %v\n%s", what, err, answer)
		}
	}
	for _, c := range []struct {
		method, path string
		status       int
		schema       string
	}{
		{"GET", "/status", 200, "Status"},
		{"GET", "/api/v1/status", 200, "Status"},
		{"GET", "/api/v1/upstreams", 200, "Upstreams"},
		{"GET", "/api/v1/upstreams/it", 200, "Upstream"},
		{"GET", "/api/v1/upstreams/none", 404, "Problem"},
		{"GET", "/api/v1/config", 200, "Config"},
		{"GET", "/api/v1/none", 404, "Problem"},
		{"GET", "/api/v2/status", 404, "Problem"},
		{"POST", "/api/v1/status", 405, "Problem"},
		{"GET", "/api/v1/reload", 405, "Problem"},
		{"POST", "/api/v1/reload", 401, "Problem"},
	} {
		status, header, answer := g.ask(t, c.method, c.path)
		kind := map[bool]string{true: "application/problem+json", false: "application/json"}[c.schema == "Problem"]
		if status != c.status || header.Get("Content-Type") != kind || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: status %d, headers %v", c.method, c.path, status, header)
		}
		check(c.method+" "+c.path, c.schema, answer)
		for _, secret := range []string{"hunter2secret", adminToken, serverKey} {
			if strings.Contains(answer, secret) {
				t.Errorf("%s %s has the secret %q: %s", c.method, c.path, secret, answer)
			}
		}
	}
	status, _, answer := g.ask(t, "POST", "/api/v1/reload", "Authorization: Bearer "+adminToken)
	if status != http.StatusOK {
		t.Errorf("reload: status %d: %s", status, answer)
	}
	check("reload", "ConfigState", answer)
}

func TestGatewayAPIReloadsWithTheTokenOnly(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	g := newAdminGate(t, web)
	g.write(t, adminConfig(web, "    mode: strict\n"))
	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"no token":        {nil, 401},
		"wrong token":     {[]string{"Authorization: Bearer " + adminToken + "x"}, 401},
		"other scheme":    {[]string{"Authorization: Basic " + adminToken}, 401},
		"cross-site page": {[]string{"Authorization: Bearer " + adminToken, "Sec-Fetch-Site: cross-site"}, 403},
		"foreign origin":  {[]string{"Authorization: Bearer " + adminToken, "Origin: https://evil.example"}, 403},
		"foreign host":    {[]string{"Authorization: Bearer " + adminToken, "Host: evil.example"}, 403},
	} {
		if status, _, answer := g.ask(t, "POST", "/api/v1/reload", c.headers...); status != c.status {
			t.Errorf("%s: status %d, want %d: %s", name, status, c.status, answer)
		}
	}
	if status, _, _ := g.ask(t, "POST", "/api/v1/reload?token="+adminToken); status != http.StatusUnauthorized {
		t.Errorf("a token in the URL: status %d", status)
	}
	if mode := g.mode(t); mode != "annotate" {
		t.Fatalf("a refused request has reloaded the file: the mode is %s", mode)
	}
	if status, _, answer := g.ask(t, "POST", "/api/v1/reload", "Authorization: Bearer "+adminToken); status != http.StatusOK || g.mode(t) != "strict" {
		t.Errorf("status %d: %s", status, answer)
	}
	g.write(t, adminConfig(web, "    mode: strct\n"))
	status, _, answer := g.ask(t, "POST", "/api/v1/reload", "Authorization: Bearer "+adminToken)
	if status != http.StatusUnprocessableEntity || !strings.Contains(answer, `unknown mode \"strct\"`) || !strings.Contains(answer, "did you mean") || g.mode(t) != "strict" {
		t.Errorf("status %d: %s", status, answer)
	}
}

func TestGatewayAPIRefusesChangesWithoutAToken(t *testing.T) {
	t.Parallel()
	g := newGate(t, configText(newWebServer(t).URL, ""))
	status, _, answer := g.ask(t, "POST", "/api/v1/reload", "Authorization: Bearer ")
	if status != http.StatusForbidden || !strings.Contains(answer, "--admin-token-env") {
		t.Errorf("status %d: %s", status, answer)
	}
}

// A server must not learn the token with which it could change the gateway.
func TestGatewayWithholdsTheAdminTokenFromServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seen := filepath.Join(dir, "environment")
	g := &gate{config: filepath.Join(dir, "candor.yaml")}
	g.write(t, fmt.Sprintf("version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\nadminToken: ${CANDOR_TEST_ADMIN}\nupstreams:\n  it:\n    command: [sh, -c, \"env > %s.part; mv %s.part %s\"]\n", seen, seen, seen))
	g = gateAt(t, g.config)
	hello := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.address+"/it/", hello)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if _, err := fetch(req); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("PATH=")) || bytes.Contains(text, []byte(adminToken)) {
		t.Errorf("the server has the environment %s", text)
	}
	var config map[string]any
	_, _, answer := g.ask(t, "GET", "/api/v1/config")
	if err := json.Unmarshal([]byte(answer), &config); err != nil || config["adminToken"] != true {
		t.Errorf("%s, %v", answer, err)
	}
}
