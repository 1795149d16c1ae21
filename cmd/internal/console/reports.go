package console

import (
	"errors"
	"io/fs"
	"net/http"
)

// reportsView is the data of the page with the reports of candor probe, and its JSON.
type reportsView struct {
	Reports []Report `json:"reports"`
	Off     bool     `json:"-"` // the console was started without a folder of reports
}

func (s *Server) reports(r *http.Request) (*reportsView, error) {
	if s.o.Reports == nil {
		return nil, &problem{Status: http.StatusNotFound, Title: "No reports here", Detail: "Start the console with --reports and the folder of reports of candor probe --format json."}
	}
	list, err := s.o.Reports.Reports(r.Context())
	if err != nil {
		return nil, &problem{Status: http.StatusInternalServerError, Title: "The reports cannot be read", Detail: err.Error()}
	}
	return &reportsView{Reports: append([]Report{}, list...)}, nil
}

func (s *Server) reportsPage(w http.ResponseWriter, r *http.Request) {
	if s.o.Reports == nil {
		s.render(w, r, http.StatusOK, "reports", "Probe reports", &reportsView{Off: true})
		return
	}
	view, err := s.reports(r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	s.render(w, r, http.StatusOK, "reports", "Probe reports", view)
}

// reportPage serves a report as candor probe --format html writes it, with the policy of that page and no frames.
func (s *Server) reportPage(w http.ResponseWriter, r *http.Request) {
	if s.o.Reports == nil {
		s.unknownPage(w, r)
		return
	}
	html, policy, err := s.o.Reports.Page(r.Context(), r.PathValue("name"))
	if errors.Is(err, fs.ErrNotExist) {
		err = &problem{Status: http.StatusNotFound, Title: "No such report", Detail: "The folder of reports has no such file."}
	} else if err != nil {
		err = &problem{Status: http.StatusUnprocessableEntity, Title: "The report cannot be read", Detail: err.Error()}
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	w.Header().Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(html) // the client may have disconnected
}
