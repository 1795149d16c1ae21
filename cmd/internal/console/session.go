package console

import (
	"net/http"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
)

// sessionView is the data of a session's page, and its JSON.
type sessionView struct {
	Session  string             `json:"session"`
	Failures []failures.Failure `json:"failures"` // oldest first
	More     bool               `json:"more"`     // only the newest are listed

	Steps       []step        `json:"-"`
	Length      time.Duration `json:"-"`
	First, Last time.Time     `json:"-"`
	List        string        `json:"-"`
}

// step is a failure on the timeline.
type step struct {
	failures.Failure
	Gap time.Duration // since the failure before; 0 if it is short
}

// minGap is the shortest time between failures that the timeline mentions.
const minGap = 5 * time.Second

func (v *sessionView) title() string { return "Session " + v.Session }

func (s *Server) session(r *http.Request) (*sessionView, error) {
	v := &sessionView{Session: r.PathValue("session")}
	list, more, err := s.o.Failures.Timeline(r.Context(), v.Session)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &problem{Status: http.StatusNotFound, Title: "No such session", Detail: "The ledger has no failure of this session."}
	}
	v.Failures, v.More = list, more
	v.First, v.Last = list[0].Time, list[len(list)-1].Time
	v.Length = v.Last.Sub(v.First)
	v.List = listPath(failures.Filter{Session: v.Session}.Values())
	for i := range list {
		one := step{Failure: list[i]}
		if i > 0 {
			if gap := list[i].Time.Sub(list[i-1].Time); gap >= minGap {
				one.Gap = gap.Round(time.Second)
			}
		}
		v.Steps = append(v.Steps, one)
	}
	return v, nil
}
