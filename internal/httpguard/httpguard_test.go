package httpguard

import (
	"net/http/httptest"
	"testing"
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
