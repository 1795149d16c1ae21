package gatewaycmd

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/cmd/internal/gateway/share"
)

// openShare connects to the other gateways if the file asks for it. It does not wait for the connection.
func openShare(env *term.Env, log *slog.Logger, file *config.File) (*share.Group, error) {
	if file.Share == "" {
		return nil, nil //nolint:nilnil // a nil group shares nothing
	}
	bus, err := shareEngine(env, file)(file.Share, share.OpenOptions{Getenv: env.Getenv, Log: log})
	if err != nil {
		return nil, term.BadInput("correct share: in the file, or --share; see docs/fleet.md", "share: %s", err)
	}
	return share.New(share.Options{Bus: bus, Key: file.ShareKey, Version: term.ReadBuildInfo().Version, Log: log}), nil
}

// shareEngine returns the function that opens what the file shares, or nil.
func shareEngine(env *term.Env, file *config.File) func(string, share.OpenOptions) (share.Bus, error) {
	scheme, _, _ := strings.Cut(file.Share, ":")
	return env.Sharing[scheme]
}

// checkShare returns an error if this program cannot open what the file shares.
func checkShare(env *term.Env, file *config.File) error {
	if file.Share != "" && shareEngine(env, file) == nil {
		return term.NeedsCluster("share")
	}
	return nil
}

// sharedUpstream returns the part of a group for one upstream, or nil.
func sharedUpstream(group *share.Group, u config.Upstream) *share.Upstream {
	if group == nil || !u.IsShared() {
		return nil
	}
	return group.Upstream(u.Name, u.URL.Scheme+"://"+u.URL.Host+u.URL.Path)
}

// shownShare returns the address of share without credentials and parameters.
func shownShare(address string) string {
	if address == "" {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil {
		return "" // cannot happen: it was parsed before
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// shareWords describes for people what gateways share.
func shareWords(s *share.Status) []string {
	state := "connected"
	if !s.Connected {
		state = "NOT connected, this gateway decides alone"
	}
	if s.Problem != "" {
		state += " (" + term.Printable(s.Problem) + ")"
	}
	words := []string{fmt.Sprintf("share: %s, %s", state, count(len(s.Nodes), "other gateway", "other gateways"))}
	for _, n := range s.Nodes {
		line := fmt.Sprintf("  %s %s", term.Printable(n.Node), term.Printable(n.Version))
		if !n.Same {
			line += ", has another catalogue of codes"
		}
		words = append(words, line)
	}
	for _, c := range s.Codes {
		line := fmt.Sprintf("  code %s is not known here", c.Code)
		if c.Node != "" {
			line += fmt.Sprintf("; %s says: %s, %s", term.Printable(c.Node), c.Class, term.Printable(c.Says))
		}
		words = append(words, line)
	}
	return words
}

// shareStatus returns the state of a group, or nil.
func shareStatus(group *share.Group) *share.Status {
	if group == nil {
		return nil
	}
	s := group.Status()
	return &s
}
