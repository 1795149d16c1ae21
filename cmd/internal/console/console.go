// Package console serves pages about the failures in a ledger: the list with charts, one failure, a tool, the servers, a session,
// verification, and the same as JSON.
//
// All but the page to log in require a token or a login. The pages work without JavaScript, and show text of servers only escaped.
package console

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/internal/httpguard"
)

// Options configures a [Server].
type Options struct {
	Dir      string // folder of the ledger
	Failures *failures.Store

	Token string   // required of every request; "" is a random one, so that only [Server.LoginPath] lets a browser in
	Hosts []string // host names besides those of this machine, see [httpguard.Guard]

	WitnessCopies []string // see verify.Options.OwnWitnessCopies
	Version       string   // of the program

	Servers ServerSource // state of running upstreams; nil if none runs here
	Rules   RuleMaker    // proposes and writes rules; nil offers none

	Log *slog.Logger     // nil discards
	Now func() time.Time // nil is [time.Now]
}

// Server is the handler of the console.
type Server struct {
	o           Options
	guard       httpguard.Guard
	mux         *http.ServeMux
	routes      []route // registered, for the test of the API's description
	verifier    verifier
	logins      logins
	streams     chan struct{}   // one element for each open stream
	feedTimeout time.Duration   // see the constant
	ended       context.Context //nolint:containedctx // ends streams and the verification
	end         context.CancelFunc
	jobs        sync.WaitGroup
}

// route is a method and a pattern.
type route struct{ method, pattern string }

// maxStreams is the number of live feeds that are served at the same time.
const maxStreams = 32

// New returns a console. The caller closes it.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Token == "" {
		o.Token = rand.Text()
	}
	s := &Server{o: o, logins: logins{once: rand.Text()}, guard: httpguard.Guard{Hosts: o.Hosts}, mux: http.NewServeMux(), streams: make(chan struct{}, maxStreams), feedTimeout: feedTimeout}
	s.ended, s.end = context.WithCancel(context.Background())
	s.register()
	return s
}

// Close ends the live feeds and the verification, and waits for the latter.
func (s *Server) Close() {
	s.verifier.mu.Lock() // no verification begins after this
	s.end()
	s.verifier.mu.Unlock()
	s.jobs.Wait()
}

// handle registers a handler.
func (s *Server) handle(method, pattern string, h http.HandlerFunc) {
	s.routes = append(s.routes, route{method, pattern})
	s.mux.HandleFunc(method+" "+pattern, h)
}

// handlePage registers a page of data that of makes.
func handlePage[V interface{ title() string }](s *Server, pattern, name string, of func(*http.Request) (V, error)) {
	s.handle("GET", pattern, func(w http.ResponseWriter, r *http.Request) {
		view, err := of(r)
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		s.render(w, r, http.StatusOK, name, view.title(), view)
	})
}

// handleAPI registers a part of the API that is data which of makes.
func handleAPI[V any](s *Server, pattern string, of func(*http.Request) (V, error)) {
	s.handle("GET", apiRoot+pattern, func(w http.ResponseWriter, r *http.Request) {
		value, err := of(r)
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, value)
	})
}

func (s *Server) register() {
	handlePage(s, "/{$}", "overview", s.overview)
	handlePage(s, "/failure/{chain}/{seq}", "failure", s.failure)
	s.handle("GET", "/failure/{chain}/{seq}/proof.json", s.proofFile)
	s.handle("GET", "/ref/{prefix}", s.refPage)
	handlePage(s, "/tool/{server}/{tool}", "tool", s.tool)
	handlePage(s, "/tool/{server}/{tool}/rules", "rules", s.rules)
	s.handle("POST", "/tool/{server}/{tool}/rules", s.writeRules)
	handlePage(s, "/session/{session}", "session", s.session)
	handlePage(s, "/servers", "servers", s.servers)
	handlePage(s, "/verify", "verify", s.verification)
	s.handle("POST", "/verify", s.startVerification)
	s.handle("GET", "/live", s.livePage)
	s.registerAPI()
	s.handle("GET", "/assets/{name}", serveAsset)
	s.handle("GET", loginPath, s.loginPage)
	s.handle("POST", loginPath, s.login)
	s.handle("POST", "/logout", s.logout)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if no := s.refusal(r); no != nil {
		s.writeProblem(w, r, no)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	_, pattern := s.mux.Handler(r)
	if pattern == "" {
		s.writeProblem(w, r, s.unknown(r))
		return
	}
	s.mux.ServeHTTP(w, r)
}
