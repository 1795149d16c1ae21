package console

import (
	"context"
	"net/http"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
)

// toolView is the data of a tool's page, and its JSON.
type toolView struct {
	Server    string             `json:"server"`
	Tool      string             `json:"tool"`
	Total     uint64             `json:"failures"`
	Suspected uint64             `json:"suspected"`
	Masked    uint64             `json:"masked"`        // failures in the form of successes, certain and suspected ones
	OfServer  float64            `json:"shareOfServer"` // of the failures of its server, from 0 to 1
	Codes     []failures.Count   `json:"codes"`
	Verdicts  []failures.Count   `json:"verdicts"`
	Rules     []Rule             `json:"rules"`
	Newest    []failures.Failure `json:"newest"`

	Summary    failures.Summary `json:"-"`
	Chart      timeChart        `json:"-"`
	Charts     []countChart     `json:"-"`
	ListPath   string           `json:"-"`
	RulesPath  string           `json:"-"`
	RulesError string           `json:"-"`
	CanMake    bool             `json:"-"` // rules can be written here
	Written    bool             `json:"-"` // a rule was just written
	Percent    int              `json:"-"`
}

// maxNewest is the number of failures on the page of a tool.
const maxNewest = 20

func (v *toolView) title() string { return v.Tool + " of " + v.Server }

func (s *Server) tool(r *http.Request) (*toolView, error) {
	v := &toolView{Server: r.PathValue("server"), Tool: r.PathValue("tool"), Rules: []Rule{}, Written: r.URL.Query().Has("written")}
	f := failures.Filter{Server: v.Server, Tool: v.Tool}
	var err error
	if v.Summary, err = s.o.Failures.Summarize(r.Context(), f); err != nil {
		return nil, err
	}
	if v.Summary.Total == 0 {
		return nil, &problem{Status: http.StatusNotFound, Title: "No such tool", Detail: "The ledger has no failure of this tool."}
	}
	list, err := s.o.Failures.List(r.Context(), f, "", maxNewest)
	if err != nil {
		return nil, err
	}
	all, err := s.o.Failures.List(r.Context(), failures.Filter{Server: v.Server}, "", 1)
	if err != nil {
		return nil, err
	}
	v.Total, v.Suspected, v.Masked, v.OfServer = v.Summary.Total, v.Summary.Suspected, v.Summary.Masked, share(v.Summary.Total, all.Total)
	v.Percent = int(v.OfServer*100 + 0.5)
	v.Newest = list.Failures
	v.Codes, v.Verdicts = v.Summary.Codes, v.Summary.Verdicts
	query := f.Values()
	v.ListPath, v.RulesPath = listPath(query), toolPath(v.Server, v.Tool)+"/rules"
	v.Chart = newTimeChart(&v.Summary, query)
	v.Charts = []countChart{
		newCountChart("code", "Codes", v.Summary.Codes, query),
		newCountChart("verdict", "How they look on the wire", v.Summary.Verdicts, query),
		newCountChart("origin", "Who failed", v.Summary.Origins, query),
	}
	s.addRules(r.Context(), v)
	return v, nil
}

func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// addRules adds the proposed rules of a tool with suspected failures. The page is useful without them.
func (s *Server) addRules(ctx context.Context, v *toolView) {
	if s.o.Rules == nil || v.Suspected == 0 {
		return
	}
	v.CanMake = true
	rules, err := s.o.Rules.Propose(ctx, v.Server, v.Tool)
	if err != nil {
		v.RulesError = err.Error()
		return
	}
	v.Rules = append(v.Rules, rules...)
}
