package console

import (
	_ "embed"
	"net/http"
	"strconv"
	"time"

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
	answer := func(pattern string, of func(*http.Request) (any, error)) {
		s.handle("GET", apiRoot+pattern, func(w http.ResponseWriter, r *http.Request) {
			value, err := of(r)
			if err != nil {
				s.writeError(w, r, err)
				return
			}
			writeJSON(w, http.StatusOK, value)
		})
	}
	answer("/failures", func(r *http.Request) (any, error) { return s.apiList(r) })
	answer("/summary", func(r *http.Request) (any, error) { return s.apiSummary(r) })
	answer("/failures/{chain}/{seq}", func(r *http.Request) (any, error) { return s.failure(r) })
	answer("/refs/{prefix}", func(r *http.Request) (any, error) { return s.apiRefs(r) })
	answer("/tools/{server}/{tool}", func(r *http.Request) (any, error) { return s.tool(r) })
	s.handle("GET", apiRoot+"/tools/{server}/{tool}/rules", s.apiPreview)
	s.handle("POST", apiRoot+"/tools/{server}/{tool}/rules", s.apiWrite)
	answer("/reports", func(r *http.Request) (any, error) { return s.reports(r) })
	answer("/sessions/{session}", func(r *http.Request) (any, error) { return s.session(r) })
	answer("/servers", func(r *http.Request) (any, error) { return s.servers(r) })
	answer("/verification", func(*http.Request) (any, error) { return s.verifier.get(), nil })
	s.handle("POST", apiRoot+"/verification", func(w http.ResponseWriter, _ *http.Request) {
		s.Verify()
		writeJSON(w, http.StatusAccepted, s.verifier.get())
	})
	s.handle("GET", apiRoot+"/failures/{chain}/{seq}/proof", s.proofFile)
	s.handle("GET", apiRoot+"/events", s.apiEvents)
}

// listJSON is a page of the list in the API.
type listJSON struct {
	Failures []failureJSON `json:"failures"` // newest first
	Total    uint64        `json:"total"`
	Next     string        `json:"next,omitempty"`     // value of at for older failures
	Previous string        `json:"previous,omitempty"` // value of at for newer failures
}

func (s *Server) apiList(r *http.Request) (*listJSON, error) {
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
	return &listJSON{jsonAll(page.Failures), page.Total, page.Next, page.Previous}, nil
}

// summaryJSON is a [failures.Summary] in the API.
type summaryJSON struct {
	Total       uint64       `json:"total"`
	Suspected   uint64       `json:"suspected"`
	Masked      uint64       `json:"masked"` // failures in the form of successes, certain and suspected ones
	First       time.Time    `json:"first,omitzero"`
	Last        time.Time    `json:"last,omitzero"`
	StepSeconds float64      `json:"stepSeconds"`
	Buckets     []bucketJSON `json:"buckets"`
	Servers     []countJSON  `json:"servers"`
	Tools       []countJSON  `json:"tools"`
	Codes       []countJSON  `json:"codes"`
	Classes     []countJSON  `json:"classes"`
	Verdicts    []countJSON  `json:"verdicts"`
	Origins     []countJSON  `json:"origins"`
	Nodes       []countJSON  `json:"nodes,omitempty"` // only in the record of many nodes
}

type bucketJSON struct {
	Begin   time.Time         `json:"begin"`
	Total   uint64            `json:"total"`
	Classes map[string]uint64 `json:"classes"`
}

func (s *Server) apiSummary(r *http.Request) (*summaryJSON, error) {
	f, _, err := filterOf(r)
	if err != nil {
		return nil, err
	}
	sum, err := s.o.Failures.Summarize(r.Context(), f)
	if err != nil {
		return nil, err
	}
	out := &summaryJSON{
		Total: sum.Total, Suspected: sum.Suspected, Masked: sum.Masked, First: sum.First, Last: sum.Last, StepSeconds: sum.Step.Seconds(), Buckets: []bucketJSON{},
		Servers: countsJSON(sum.Servers), Tools: countsJSON(sum.Tools), Codes: countsJSON(sum.Codes), Classes: countsJSON(sum.Classes),
		Verdicts: countsJSON(sum.Verdicts), Origins: countsJSON(sum.Origins), Nodes: countsJSON(sum.Nodes),
	}
	for _, b := range sum.Buckets {
		out.Buckets = append(out.Buckets, bucketJSON(b))
	}
	return out, nil
}

func (s *Server) apiRefs(r *http.Request) (*listJSON, error) {
	found, err := s.o.Failures.Find(r.Context(), r.PathValue("prefix"))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, failures.ErrNotFound
	}
	return &listJSON{Failures: jsonAll(found), Total: uint64(len(found))}, nil
}
