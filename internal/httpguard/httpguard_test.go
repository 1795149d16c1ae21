package httpguard

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/candor-mcp/candor"
)

func TestOnlyKnownHostsAreAnswered(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost:80": true, "LOCALHOST": true, "127.0.0.1:9": true, "127.9.9.9": true, "[::1]:80": true, "[::1]": true,
		"gate.example": true, "gate.example:8443": true, "other.example:1": true, "other.example:2": false,
		"evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "": false, "10.0.0.1": false,
	} {
		if got := (Guard{Hosts: []string{"gate.example", "other.example:1"}}).KnowsHost(host); got != want {
			t.Errorf("host %q: %v", host, got)
		}
	}
	if !(Guard{Hosts: []string{"*"}}).KnowsHost("any.example") {
		t.Error("a star is any host")
	}
}

func TestOnlyKnownOriginsAreAnswered(t *testing.T) {
	for origin, want := range map[string]bool{
		"http://localhost:5173": true, "https://127.0.0.1": true, "https://app.example": true, "http://gate.example:8080": true,
		"https://evil.example": false, "null": false, "file://": false, "https://localhost.evil.example": false, "": false,
	} {
		r := httptest.NewRequest("POST", "http://gate.example:8080/", nil)
		r.Header.Set("Origin", origin)
		if got := (Guard{Origins: []string{"https://app.example/"}}).KnowsOrigin(r); got != want {
			t.Errorf("origin %q: %v", origin, got)
		}
	}
	r := httptest.NewRequest("POST", "http://gate.example/", nil)
	if !(Guard{}).KnowsOrigin(r) {
		t.Error("programs send none")
	}
	r.Header["Origin"] = []string{"http://localhost", "http://localhost"}
	if (Guard{}).KnowsOrigin(r) {
		t.Error("two origins are one too many")
	}
}

func TestMissingTokenIsRefused(t *testing.T) {
	guard := Guard{Token: "correct horse"}
	for said, want := range map[string]bool{"": false, "Bearer wrong": false, "Basic correct horse": false, "Bearer correct horse": true} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		if said != "" {
			r.Header.Set("Authorization", said)
		}
		no := guard.Check(r)
		if (no == nil) != want || no != nil && (no.Status != http.StatusUnauthorized || no.Err.Code() != candor.CodeTokenRequired) {
			t.Errorf("%q: %+v", said, no)
		}
	}
}
