package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

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

// TestOtherUsersOfTheMachineReadNothing asks every route without a login, as another user of the machine can.
func TestOtherUsersOfTheMachineReadNothing(t *testing.T) {
	s := open(t, console.Options{Rules: &fakeRules{}, Servers: fakeServers{}})
	s.everyRoute(func(method, path string) {
		if path == "/login" || strings.HasPrefix(path, "/assets/") {
			return
		}
		for name, header := range map[string]func(*http.Request){
			"no token": anonymous, "another cookie": func(r *http.Request) {
				r.Header.Del("Cookie")
				r.AddCookie(&http.Cookie{Name: s.cookie.Name, Value: "x"})
			},
		} {
			res, body := s.request(method, path, "", header)
			if res.StatusCode != http.StatusUnauthorized || res.Header.Get("WWW-Authenticate") == "" || strings.Contains(body, "no such order") || strings.Contains(body, s.dir) {
				t.Errorf("%s %s with %s: status %d, want 401: %s", method, path, name, res.StatusCode, body)
			}
			if !strings.HasPrefix(path, "/api/") && !strings.Contains(body, "Open the link that candor printed") {
				t.Errorf("%s %s does not say how to log in", method, path)
			}
		}
	})
}

func TestLinkLogsInOnce(t *testing.T) {
	s := open(t, console.Options{}) // has used the link
	link := "/login?once=" + "x"
	for _, path := range []string{link, "/login?once=", s.server.LoginPath()} {
		if res, body := s.request("GET", path, "", anonymous); len(res.Cookies) > 0 || strings.Contains(body, s.dir) {
			t.Errorf("GET %s: status %d, cookies %v", path, res.StatusCode, res.Cookies)
		}
	}
	other := console.New(console.Options{Failures: s.store})
	defer other.Close()
	s.http.Config.Handler = other
	link = other.LoginPath()
	if res, _ := s.request("HEAD", link, "", anonymous); len(res.Cookies) > 0 {
		t.Error("HEAD used the link")
	}
	if res, _ := s.request("GET", link, "", anonymous); len(res.Cookies) != 1 || res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/" {
		t.Errorf("the link: status %d, cookies %v", res.StatusCode, res.Cookies)
	}
	if res, body := s.request("GET", link, "", anonymous); len(res.Cookies) > 0 || !strings.Contains(body, "The link was used already") {
		t.Errorf("the link again: status %d, cookies %v", res.StatusCode, res.Cookies)
	}
}

func TestLoginSetsStrictCookie(t *testing.T) {
	s := open(t, console.Options{Token: token})
	if res, body := s.request("GET", "/?q=x", "", anonymous); res.StatusCode != http.StatusUnauthorized || !strings.Contains(body, `name="next" value="/?q=x"`) {
		t.Errorf("without a token: status %d", res.StatusCode)
	}
	if _, body := s.request("GET", "/login?next=%2Flogin", "", anonymous); strings.Contains(body, s.dir) || strings.Contains(body, `id="nav"`) || strings.Contains(body, "next=") {
		t.Error("the page to log in shows the folder of the ledger, the navigation, or a link to itself")
	}
	if res, _ := s.request("GET", "/", "", func(r *http.Request) { anonymous(r); bearer(r) }); res.StatusCode != http.StatusOK {
		t.Errorf("with the token in a header: status %d", res.StatusCode)
	}
	res, _ := s.request("POST", "/login", "next=//evil.example&token="+strings.ReplaceAll(token, " ", "+"), anonymous)
	if len(res.Cookies) != 1 || res.Header.Get("Location") != "/" {
		t.Fatalf("logging in: status %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	cookie := res.Cookies[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || strings.Contains(cookie.Value, "horse") {
		t.Errorf("the cookie is %v", cookie)
	}
	with := func(r *http.Request) { anonymous(r); r.AddCookie(cookie) }
	if res, _ := s.request("GET", "/", "", with); res.StatusCode != http.StatusOK {
		t.Errorf("with the cookie: status %d", res.StatusCode)
	}
	s.request("POST", "/logout", "", with)
	if res, _ := s.request("GET", "/", "", with); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("after logging out: status %d", res.StatusCode)
	}
}

func TestParallelTriesOfATokenAreNotFaster(t *testing.T) {
	now := time.Now()
	s := open(t, console.Options{Token: token, Now: func() time.Time { return now }})
	right := "token=" + strings.ReplaceAll(token, " ", "+")
	if res, body := s.request("POST", "/login", "token=wrong", anonymous); res.StatusCode != http.StatusUnauthorized || len(res.Cookies) > 0 || !strings.Contains(body, "Wrong token") {
		t.Errorf("with a wrong token: status %d", res.StatusCode)
	}
	if res, _ := s.request("POST", "/login", right, anonymous); res.StatusCode != http.StatusTooManyRequests || len(res.Cookies) > 0 {
		t.Errorf("at the same time: status %d, want 429", res.StatusCode)
	}
	if res, _ := s.request("GET", "/api/v1/summary", "", bearer); res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("in a header: status %d, want 429", res.StatusCode)
	}
	s.get("/")                                                  // those who are logged in do not wait
	for _, path := range []string{"/", "/login", "/assets/x"} { // an address says nothing about the token
		wrong, _ := s.request("GET", path+"?x=wrong", "", anonymous)
		if res, _ := s.request("GET", path+"?x="+url.QueryEscape(token), "", anonymous); res.StatusCode != wrong.StatusCode {
			t.Errorf("%s with the token: status %d, else %d", path, res.StatusCode, wrong.StatusCode)
		}
	}
	now = now.Add(time.Second)
	if res, _ := s.request("POST", "/login", right, anonymous); len(res.Cookies) != 1 {
		t.Errorf("a second later: status %d", res.StatusCode)
	}
}
