package console

import (
	"crypto/rand"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/candor-mcp/candor/internal/httpguard"
)

// Limits of logins.
const (
	sessionAge  = 12 * time.Hour
	maxSessions = 100
	loginPause  = 500 * time.Millisecond // after a wrong token, in which no other token is compared
)

const loginPath = "/login"

// logins lets browsers in. The cookie is a random name of a login and not the token, which would be sent to every server on
// this machine.
type logins struct {
	mu     sync.Mutex
	once   string               // of the link that logs in; "" if it was used
	closed time.Time            // tokens are refused until then
	ends   map[string]time.Time // of logins, by cookie
}

// check compares a token. Wrong ones that are sent in parallel take as long as one after the other.
func (l *logins) check(got, token string, now time.Time) *problem {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case now.Before(l.closed):
		return &problem{Status: http.StatusTooManyRequests, Title: "Too many wrong tokens", Detail: "Wait a second, then try again."}
	case sameToken(got, token):
		return nil
	}
	l.closed = now.Add(loginPause)
	return &problem{Status: http.StatusUnauthorized, Title: "Wrong token", Detail: "Copy it again."}
}

// use reports whether a link may log in, once.
func (l *logins) use(once string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if once == "" || !sameToken(once, l.once) {
		return false
	}
	l.once = ""
	return true
}

// cookieName has the port, because browsers send a cookie to every port of a host. The gateway does not forward it.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return httpguard.ConsoleCookie + port
}

func (l *logins) has(r *http.Request, now time.Time) bool {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	end, ok := l.ends[cookie.Value]
	return ok && now.Before(end)
}

// add makes a login. If there are too many, it ends the oldest.
func (l *logins) add(now time.Time) string {
	id := rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ends == nil {
		l.ends = map[string]time.Time{}
	}
	l.ends[id] = now.Add(sessionAge)
	if len(l.ends) > maxSessions {
		oldest := id
		for other, end := range l.ends {
			if end.Before(l.ends[oldest]) {
				oldest = other
			}
		}
		delete(l.ends, oldest)
	}
	return id
}

func (l *logins) remove(r *http.Request) {
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.ends, cookie.Value)
	}
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode})
}

// LoginPath returns the path that logs one browser in. It is valid once.
func (s *Server) LoginPath() string {
	s.logins.mu.Lock()
	defer s.logins.mu.Unlock()
	return loginPath + "?once=" + s.logins.once
}

// loginView is the data of the page to log in.
type loginView struct {
	Next  string // the page that was asked for
	Wrong string // why logging in failed
}

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) {
	once := r.URL.Query().Get("once")
	switch {
	case r.Method == http.MethodGet && s.logins.use(once):
		s.letIn(w, r, "/")
	case once != "":
		s.render(w, r, http.StatusForbidden, "login", "Log in", loginView{Next: "/", Wrong: "The link was used already."})
	default:
		s.render(w, r, http.StatusOK, "login", "Log in", loginView{Next: "/"})
	}
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.PostFormValue("next"))
	if p := s.logins.check(strings.TrimSpace(r.PostFormValue("token")), s.o.Token, s.o.Now()); p != nil {
		s.render(w, r, p.Status, "login", "Log in", loginView{Next: next, Wrong: p.Title + ". " + p.Detail})
		return
	}
	s.letIn(w, r, next)
}

// letIn sets the cookie of a new login.
func (s *Server) letIn(w http.ResponseWriter, r *http.Request, next string) {
	s.setCookie(w, r, s.logins.add(s.o.Now()), int(sessionAge/time.Second))
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	s.logins.remove(r)
	s.setCookie(w, r, "", -1)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// localPath returns a path of the console, or "/" for everything else, such as //evil.example. Browsers remove tabs and line
// breaks from an address, so /<tab>/evil.example is another host too.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, "\\") || strings.ContainsFunc(next, unicode.IsControl) {
		return "/"
	}
	return next
}
