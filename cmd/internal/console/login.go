package console

import (
	"crypto/rand"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Limits of logins.
const (
	sessionAge  = 12 * time.Hour
	maxSessions = 100
	loginPause  = 500 * time.Millisecond // after a wrong token
)

// sessionList has the logins. The cookie is a random name of a login and not the token, which would be sent to every
// server on this machine.
type sessionList struct {
	mu   sync.Mutex
	ends map[string]time.Time // by cookie
}

// cookieName has the port, because browsers send a cookie to every port of a host.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "candor-console-" + port
}

func (l *sessionList) has(r *http.Request, now time.Time) bool {
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
func (l *sessionList) add(now time.Time) string {
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

func (l *sessionList) remove(r *http.Request) {
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.ends, cookie.Value)
	}
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode})
}

// loginView is the data of the login page.
type loginView struct {
	Next  string
	Wrong bool
	Off   bool // there is no token
}

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusOK, "login", "Log in", loginView{Next: localPath(r.URL.Query().Get("next")), Off: s.o.Token == ""})
}

func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.PostFormValue("next"))
	if s.o.Token == "" || !sameToken(strings.TrimSpace(r.PostFormValue("token")), s.o.Token) {
		select {
		case <-time.After(loginPause):
		case <-r.Context().Done():
		}
		s.render(w, r, http.StatusForbidden, "login", "Log in", loginView{Next: next, Wrong: s.o.Token != "", Off: s.o.Token == ""})
		return
	}
	s.setCookie(w, r, s.sessions.add(s.o.Now()), int(sessionAge/time.Second))
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	s.sessions.remove(r)
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
