// Package console serves pages about the failures in a ledger: the list with charts, one failure, a tool, the servers, a session,
// verification, and the same as JSON.
//
// The pages are read-only unless a token allows more, work without JavaScript, and show text of servers only escaped.
package console

import (
	"context"
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

	Token   string   // allows changes; "" allows none
	Private bool     // reading requires the token too
	Hosts   []string // host names besides those of this machine, see [httpguard.Guard]

	WitnessCopies []string // see verify.Options.OwnWitnessCopies
	Version       string   // of the program

	Servers ServerSource // state of running upstreams; nil if none runs here
	Rules   RuleMaker    // proposes and writes rules; nil offers none
	Reports ReportSource // reports of candor probe; nil if there are none

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
	sessions    sessionList
	rows        rowCache
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
	s := &Server{o: o, guard: httpguard.Guard{Hosts: o.Hosts}, mux: http.NewServeMux(), streams: make(chan struct{}, maxStreams), feedTimeout: feedTimeout}
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

func (s *Server) register() {
	s.handle("GET", "/{$}", s.overviewPage)
	s.handle("GET", "/failure/{chain}/{seq}", s.failurePage)
	s.handle("GET", "/failure/{chain}/{seq}/proof.json", s.proofFile)
	s.handle("GET", "/ref/{prefix}", s.refPage)
	s.handle("GET", "/tool/{server}/{tool}", s.toolPage)
	s.handle("GET", "/tool/{server}/{tool}/rules", s.rulesPage)
	s.handle("POST", "/tool/{server}/{tool}/rules", s.writeRules)
	s.handle("GET", "/session/{session}", s.sessionPage)
	s.handle("GET", "/servers", s.serversPage)
	s.handle("GET", "/verify", s.verifyPage)
	s.handle("POST", "/verify", s.startVerification)
	s.handle("GET", "/reports", s.reportsPage)
	s.handle("GET", "/reports/{name}", s.reportPage)
	s.handle("GET", "/live", s.livePage)
	s.registerAPI()
	s.handle("GET", "/assets/{name}", serveAsset)
	s.handle("GET", "/login", s.loginPage)
	s.handle("POST", "/login", s.login)
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
