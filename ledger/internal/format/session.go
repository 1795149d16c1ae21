package format

import (
	"encoding/json"
)

// Session is the member data.session of a setting.
type Session struct {
	ID    string        `json:"id"`
	State string        `json:"state"`
	Root  string        `json:"root,omitempty"`
	Count int64         `json:"count,omitempty"`
	Parts []SessionPart `json:"parts,omitempty"`
}

// SessionPart is the range of a session's entries in one chain.
type SessionPart struct {
	Chain string `json:"chain"`
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// ParseSession decodes the member session of data.
func ParseSession(data json.RawMessage) (Session, bool) {
	var d struct {
		Session Session `json:"session"`
	}
	err := json.Unmarshal(data, &d)
	return d.Session, err == nil && d.Session.ID != ""
}

// SessionIn decodes the member data.session of a line.
func SessionIn(line []byte) (Session, bool) {
	var data json.RawMessage
	err := DecodeData(line, &data)
	s, ok := ParseSession(data)
	return s, ok && err == nil
}

// The states of a session.
const (
	SessionBegun     = "begun"
	SessionFinalised = "finalised"
)
