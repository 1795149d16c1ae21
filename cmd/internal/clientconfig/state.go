package clientconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// stateName is the file in Candor's state folder that records how to undo an edit which the file alone does not show.
const stateName = "install.json"

// state is the content of that file.
type state struct {
	Version int      `json:"version"`
	Added   []record `json:"added"`
}

// record says that Text, the arguments of a server that had none, was added to a file.
type record struct {
	File   string   `json:"file"`
	Server []string `json:"server"`
	Text   string   `json:"text"`
}

func readState(root *os.Root) (*state, error) {
	data, err := root.ReadFile(stateName)
	if errors.Is(err, fs.ErrNotExist) {
		return &state{Version: 1}, nil
	}
	if err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil || s.Version != 1 {
		return nil, fmt.Errorf("%s: not a state file of this version; move it away to go on without it", stateName)
	}
	return &s, nil
}

// text returns the recorded text that a server of a file has now, or "". A repair that was interrupted leaves two records.
func (s *state) text(file string, c *Config, server Server) string {
	for _, r := range s.Added {
		if r.is(file, server.path) && c.endsWith(server, r.Text) {
			return r.Text
		}
	}
	return ""
}

// texts returns the recorded text of each server.
func (s *state) texts(file string, c *Config, servers []Server) []string {
	list := make([]string, 0, len(servers))
	for _, server := range servers {
		list = append(list, s.text(file, c, server))
	}
	return list
}

// has reports whether there is a record of a server.
func (s *state) has(file string, server []string) bool {
	return slices.ContainsFunc(s.Added, func(r record) bool { return r.is(file, server) })
}

// set replaces the records of a server. An empty text removes them.
func (s *state) set(file string, server []string, text string) {
	s.Added = slices.DeleteFunc(s.Added, func(r record) bool { return r.is(file, server) })
	s.add(file, server, text)
}

// add adds a record of a server, and keeps older ones: the file may not be written after all.
func (s *state) add(file string, server []string, text string) {
	known := slices.ContainsFunc(s.Added, func(r record) bool { return r.is(file, server) && r.Text == text })
	if text != "" && !known {
		s.Added = append(s.Added, record{File: file, Server: server, Text: text})
	}
}

func (r record) is(file string, server []string) bool {
	return r.File == file && slices.Equal(r.Server, server)
}

func (s *state) write(w *writer) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return w.replace(stateName, append(data, '\n'), 0o600, nil, nil)
}
