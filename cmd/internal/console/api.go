package console

import (
	_ "embed"
	"net/http"
	"strconv"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
)

// openAPI describes the API.
//
//go:embed openapi.json
var openAPI []byte

// apiRoot is the path of the API. Its version changes if a change could break a program.
const apiRoot = "/api/v1"

// maxAPIPage is the number of failures that a program may ask for at once.
const maxAPIPage = 500

func (s *Server) registerAPI() {
	s.handle("GET", apiRoot+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI) // the client may have disconnected
	})
	handleAPI(s, "/failures", s.apiList)
	handleAPI(s, "/summary", s.apiSummary)
	handleAPI(s, "/failures/{chain}/{seq}", s.failure)
	handleAPI(s, "/refs/{prefix}", s.apiRefs)
	handleAPI(s, "/tools/{server}/{tool}", s.tool)
	handleAPI(s, "/tools/{server}/{tool}/rules", func(r *http.Request) (Change, error) { return s.change(r, r.URL.Query()["id"]) })
	s.handle("POST", apiRoot+"/tools/{server}/{tool}/rules", s.apiWrite)
	handleAPI(s, "/sessions/{session}", s.session)
	handleAPI(s, "/servers", s.servers)
	handleAPI(s, "/verification", s.verification)
	s.handle("POST", apiRoot+"/verification", func(w http.ResponseWriter, _ *http.Request) {
		s.Verify()
		writeJSON(w, http.StatusAccepted, s.verifier.get())
	})
	s.handle("GET", apiRoot+"/failures/{chain}/{seq}/proof", s.proofFile)
	s.handle("GET", apiRoot+"/events", s.apiEvents)
}

func (s *Server) apiList(r *http.Request) (*failures.Page, error) {
	f, _, err := filterOf(r)
	if err != nil {
		return nil, err
	}
	limit := pageSize
	if text := r.URL.Query().Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxAPIPage {
			return nil, &problem{Status: http.StatusBadRequest, Title: "The limit is not valid", Detail: "Use a number from 1 to " + strconv.Itoa(maxAPIPage) + "."}
		}
	}
	page, err := s.o.Failures.List(r.Context(), f, r.URL.Query().Get("at"), limit)
	if err != nil {
		return nil, err
	}
	return &page, nil
}

func (s *Server) apiSummary(r *http.Request) (failures.Summary, error) {
	f, _, err := filterOf(r)
	if err != nil {
		return failures.Summary{}, err
	}
	return s.o.Failures.Summarize(r.Context(), f)
}

func (s *Server) apiRefs(r *http.Request) (*failures.Page, error) {
	found, err := s.o.Failures.Find(r.Context(), r.PathValue("prefix"))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, failures.ErrNotFound
	}
	return &failures.Page{Failures: found, Total: uint64(len(found))}, nil
}
