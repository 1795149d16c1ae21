package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/console"
)

func TestEveryResponseHasSecurityHeaders(t *testing.T) {
	s := open(t, console.Options{})
	for _, path := range []string{"/", "/nothing", "/login", "/assets/x", "/ref/x"} {
		res, body := s.request("GET", path, "", nil)
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("GET %s: %s is %q, want %q", path, name, got, want)
			}
		}
		policy := res.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("GET %s: the policy %q has no %s", path, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(body, "<style") || strings.Contains(body, " style=") || strings.Contains(body, "onclick") {
			t.Errorf("GET %s: inline style or script", path)
		}
	}
}

// TestOtherSitesAreRefused has DNS rebinding, cross-origin reading, clickjacking by way of a frame, and CSRF.
func TestOtherSitesAreRefused(t *testing.T) {
	s := open(t, console.Options{Token: token})
	for name, c := range map[string]struct {
		method string
		change func(*http.Request)
		status int
	}{
		"rebinding":            {"GET", func(r *http.Request) { r.Host = "evil.example:80" }, http.StatusForbidden},
		"origin":               {"GET", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, http.StatusForbidden},
		"null origin":          {"GET", func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"other port":           {"GET", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, http.StatusForbidden},
		"two origins":          {"GET", func(r *http.Request) { r.Header["Origin"] = []string{"http://" + r.Host, "http://evil.example"} }, http.StatusForbidden},
		"image of a site":      {"GET", fetched("cross-site", "no-cors", "image"), http.StatusForbidden},
		"frame of a site":      {"GET", fetched("cross-site", "navigate", "iframe"), http.StatusForbidden},
		"fetch of a port":      {"GET", fetched("same-site", "cors", "empty"), http.StatusForbidden},
		"link of a site":       {"GET", fetched("cross-site", "navigate", "document"), http.StatusOK},
		"typed address":        {"GET", fetched("none", "navigate", "document"), http.StatusOK},
		"form of a site":       {"POST", fetched("cross-site", "navigate", "document"), http.StatusForbidden},
		"form of a port":       {"POST", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") }, http.StatusForbidden},
		"token in the address": {"GET", func(r *http.Request) { r.URL.RawQuery = "q=" + strings.ReplaceAll(token, " ", "+") }, http.StatusBadRequest},
		"delete":               {"DELETE", nil, http.StatusMethodNotAllowed},
	} {
		path := "/"
		if c.method == "POST" {
			path = "/logout"
		}
		if res, _ := s.request(c.method, path, "", c.change); res.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d", name, res.StatusCode, c.status)
		}
	}
}

func fetched(site, mode, dest string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", site)
		r.Header.Set("Sec-Fetch-Mode", mode)
		r.Header.Set("Sec-Fetch-Dest", dest)
	}
}

func TestLoginSetsStrictCookie(t *testing.T) {
	s := open(t, console.Options{Token: token, Private: true})
	if res, _ := s.request("GET", "/?q=x", "", nil); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/login?next=%2F%3Fq%3Dx" {
		t.Errorf("without a token: status %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	if _, body := s.request("GET", "/login", "", nil); strings.Contains(body, s.dir) || strings.Contains(body, `id="nav"`) {
		t.Error("the form that asks for the token shows the folder of the ledger, or the pages")
	}
	if res, _ := s.request("GET", "/", "", bearer); res.StatusCode != http.StatusOK {
		t.Errorf("with the token in a header: status %d", res.StatusCode)
	}
	if res, body := s.request("POST", "/login", "token=wrong", nil); res.StatusCode != http.StatusForbidden || len(res.Cookies) > 0 || !strings.Contains(body, "Wrong token") {
		t.Errorf("with a wrong token: status %d", res.StatusCode)
	}
	res, _ := s.request("POST", "/login", "next=//evil.example&token="+strings.ReplaceAll(token, " ", "+"), nil)
	if len(res.Cookies) != 1 || res.Header.Get("Location") != "/" {
		t.Fatalf("logging in: status %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	cookie := res.Cookies[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || strings.Contains(cookie.Value, "horse") {
		t.Errorf("the cookie is %v", cookie)
	}
	with := func(r *http.Request) { r.AddCookie(cookie) }
	if res, _ := s.request("GET", "/", "", with); res.StatusCode != http.StatusOK {
		t.Errorf("with the cookie: status %d", res.StatusCode)
	}
	s.request("POST", "/logout", "", with)
	if res, _ := s.request("GET", "/", "", with); res.StatusCode != http.StatusSeeOther {
		t.Errorf("after logging out: status %d", res.StatusCode)
	}
}
