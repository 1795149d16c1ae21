package gatewaycmd

import (
	"crypto/subtle"
	_ "embed"
	"net/http"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// openAPI describes the API of the admin address.
//
//go:embed openapi.json
var openAPI []byte

// apiRoot is the path of the API. Its version changes if a change could break a program.
const apiRoot = "/api/v1"

// apiRoute is a part of the API.
type apiRoute struct {
	method, path string
	serve        func(*server, http.ResponseWriter, *http.Request)
}

// apiRoutes are all parts of the API. A test compares them with openapi.json.
var apiRoutes = []apiRoute{
	{http.MethodGet, "/openapi.json", func(_ *server, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI) // the client may have disconnected
	}},
	{http.MethodGet, "/status", (*server).statusPage},
	{http.MethodGet, "/upstreams", (*server).apiUpstreams},
	{http.MethodGet, "/upstreams/{name}", (*server).apiUpstream},
	{http.MethodGet, "/config", func(s *server, w http.ResponseWriter, _ *http.Request) {
		all := settingsOf(s.routes.Load().file, s.p.Dir)
		all.Watch = s.config.Load().Watched // a flag may override the file
		writeJSON(w, http.StatusOK, all)
	}},
	{http.MethodPost, "/reload", (*server).apiReload},
}

// registerAPI adds the API to the pages of the admin address.
func (s *server) registerAPI(mux *http.ServeMux) {
	methods := map[string]string{}
	for _, route := range apiRoutes {
		methods[route.path] = route.method
		mux.HandleFunc(route.method+" "+apiRoot+route.path, func(w http.ResponseWriter, r *http.Request) { route.serve(s, w, r) })
	}
	for path, method := range methods {
		mux.HandleFunc(apiRoot+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", method)
			writeProblem(w, http.StatusMethodNotAllowed, "Method not allowed", "Use "+method+".")
		})
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, http.StatusNotFound, "Unknown path", apiRoot+"/openapi.json lists the paths of the API.")
	})
}

// apiProblem is the response to a request that failed, as in RFC 9457.
type apiProblem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

func writeProblem(w http.ResponseWriter, status int, title, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	writeJSON(w, status, apiProblem{status, title, detail})
}

// upstreamList is the response with the state of all upstreams.
type upstreamList struct {
	Upstreams []upstreamStatus `json:"upstreams"`
}

func (s *server) apiUpstreams(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, upstreamList{s.status().Upstreams})
}

func (s *server) apiUpstream(w http.ResponseWriter, r *http.Request) {
	f := s.routes.Load()
	for _, u := range f.file.Upstreams {
		if u.Name == r.PathValue("name") {
			writeJSON(w, http.StatusOK, f.upstreamStatus(u))
			return
		}
	}
	writeProblem(w, http.StatusNotFound, "No such upstream", apiRoot+"/upstreams lists the upstreams of the configuration.")
}

// apiReload reads the configuration again, as after a signal. It requires the admin token: every program on this machine may read
// the state, but not change anything.
func (s *server) apiReload(w http.ResponseWriter, r *http.Request) {
	token := s.routes.Load().file.AdminToken
	switch {
	case token == "":
		writeProblem(w, http.StatusForbidden, "Changes are not allowed", "Set adminToken in the configuration file, or start the gateway with --admin-token-env.")
		return
	case http.NewCrossOriginProtection().Check(r) != nil:
		writeProblem(w, http.StatusForbidden, "Request of another page", "Web pages may not change the gateway.")
		return
	case !hasBearer(r, token):
		w.Header().Set("WWW-Authenticate", "Bearer")
		writeProblem(w, http.StatusUnauthorized, "Token required", "Send the admin token as Authorization: Bearer.")
		return
	case s.config.Load().File == "":
		writeProblem(w, http.StatusConflict, "No configuration file", "The gateway was started with --upstream. Start it with --config to reload a file.")
		return
	}
	done := make(chan struct{})
	select {
	case s.reloadRequests <- done:
		<-done
	case <-s.ending:
		writeProblem(w, http.StatusServiceUnavailable, "The gateway is shutting down", "Start it again; it reads the file then.")
		return
	case <-r.Context().Done():
		return
	}
	if status := s.config.Load(); status.Problem == nil {
		writeJSON(w, http.StatusOK, status)
	} else {
		writeProblem(w, http.StatusUnprocessableEntity, "The configuration cannot be used", strings.TrimSuffix(status.Problem.Text+"; hint: "+status.Problem.Hint, "; hint: "))
	}
}

// hasBearer reports whether a request has the token. It compares in constant time, so that timing does not reveal the token.
func hasBearer(r *http.Request, token string) bool {
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(strings.TrimSpace(got)), []byte(token)) == 1
}

// writeJSON writes a response of the admin address.
func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := term.MarshalJSON(v)
	if err != nil {
		http.Error(w, "the response could not be written", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client may have disconnected
}
