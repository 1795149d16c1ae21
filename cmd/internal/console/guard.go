package console

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
)

// policy is the content security policy of all pages: their own style and script, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// maxBody is the maximum size of a form.
const maxBody = 64 << 10

// setHeaders sets the headers that every response has.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send the forms of the pages themselves with the origin null
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// problem is a request that is refused or that failed, for people and programs.
type problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`

	allow string // the header Allow of a refused method
}

// methodProblem refuses the method of a request.
func methodProblem(allowed string) *problem {
	return &problem{Status: http.StatusMethodNotAllowed, Title: "Method not allowed", Detail: "Use " + allowed + ".", allow: allowed}
}

func (p *problem) Error() string { return p.Title + ": " + p.Detail }

// refusal checks Host, Origin, and the token where it is required. It returns nil if the request may be served.
func (s *Server) refusal(r *http.Request) *problem {
	switch {
	case !s.guard.KnowsHost(r.Host):
		return &problem{Status: http.StatusForbidden, Title: "Unknown host", Detail: "The console does not serve this host name. Use the address that candor printed, or allow the name with --host."}
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		return methodProblem("GET, HEAD, POST")
	case !isOwnOrigin(r) || http.NewCrossOriginProtection().Check(r) != nil || isForeignFetch(r):
		return &problem{Status: http.StatusForbidden, Title: "Request of another page", Detail: "Pages of other origins may not use the console. Open its address in the browser."}
	}
	no := s.unauthorized(r)
	switch {
	case no == nil && hasTokenInURL(r.URL, s.o.Token): // others would learn whether they have guessed it
		return &problem{Status: http.StatusBadRequest, Title: "Token in the address", Detail: "Addresses are logged and shared. Send the token as Authorization: Bearer, or log in."}
	case r.URL.Path == loginPath || strings.HasPrefix(r.URL.Path, "/assets/"):
		return nil
	}
	return no
}

// unauthorized returns nil if a request has the token in a header, or the cookie of a login.
func (s *Server) unauthorized(r *http.Request) *problem {
	if said := r.Header["Authorization"]; len(said) == 1 {
		scheme, got, _ := strings.Cut(said[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			got = ""
		}
		return s.logins.check(strings.TrimSpace(got), s.o.Token, s.o.Now())
	}
	if s.logins.has(r, s.o.Now()) {
		return nil
	}
	return &problem{Status: http.StatusUnauthorized, Title: "Log in", Detail: "Send the token as Authorization: Bearer, or log in with a browser."}
}

// isOwnOrigin reports whether the Origin header, if there is one, names this server. Other ports of this machine are other origins.
func isOwnOrigin(r *http.Request) bool {
	said := r.Header["Origin"]
	if len(said) == 0 {
		return true
	}
	origin, err := url.Parse(said[0])
	return err == nil && len(said) == 1 && (origin.Scheme == "http" || origin.Scheme == "https") && strings.EqualFold(origin.Host, r.Host)
}

// isForeignFetch reports whether a browser says that another site loads a part of the console. A link to a page is allowed.
func isForeignFetch(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" || r.Method == http.MethodPost
}

// hasTokenInURL reports whether a value of the query is the token.
func hasTokenInURL(u *url.URL, token string) bool {
	for _, values := range u.Query() {
		for _, value := range values {
			if sameToken(value, token) {
				return true
			}
		}
	}
	return false
}

// sameToken compares in constant time, so that timing does not reveal the token.
func sameToken(got, token string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(token)) == 1
}
