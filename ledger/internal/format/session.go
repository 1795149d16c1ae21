package format

import (
	"encoding/json"
)

// Session is data.session of a setting.
type Session struct {
	ID    string        `json:"id"`
	State string        `json:"state"`
	Root  string        `json:"root,omitempty"`
	Count int64         `json:"count,omitempty"`
	Parts []SessionPart `json:"parts,omitempty"`
}

// SessionPart is where in a chain a session's entries stand.
type SessionPart struct {
	Chain string `json:"chain"`
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// ParseSession reads data.session.
func ParseSession(data json.RawMessage) (Session, bool) {
	var d struct {
		Session Session `json:"session"`
	}
	err := json.Unmarshal(data, &d)
	return d.Session, err == nil && d.Session.ID != ""
}

// The states of a session.
const (
	SessionBegun     = "begun"
	SessionFinalised = "finalised"
)
