package gatewaycmd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
	"github.com/candor-mcp/candor/internal/plural"
)

// configStatus describes the configuration that a gateway uses. The member names are part of the format of /status.
type configStatus struct {
	File    string         `json:"file,omitempty"` // "" if the configuration is from flags
	Loaded  time.Time      `json:"loaded"`         // when the configuration in use was read
	Watched bool           `json:"watched"`        // changes of the file are noticed
	Problem *configProblem `json:"problem,omitempty"`
}

// configProblem is the reason that the file in its present state is not used.
type configProblem struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
	Hint string    `json:"hint,omitempty"`
	More int       `json:"more,omitempty"` // further problems
}

// watchInterval is the time between two looks at the watched files.
const watchInterval = 500 * time.Millisecond

// reloads reads the configuration again after each signal and each change of a watched file, until ctx is done. It closes the
// returned channel after the last reload.
func (c *gatewayCommand) reloads(ctx context.Context, s *server, asked <-chan os.Signal) <-chan struct{} {
	ended := make(chan struct{})
	watched := func() bool { return c.config != "" && !s.routes.Load().file.NoWatch } // on again at the next signal if the file allows it
	s.config.Store(&configStatus{File: c.config, Loaded: s.started.UTC(), Watched: watched()})
	go func() {
		defer close(ended)
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-asked:
				c.reload(s, watched)
			case <-tick.C:
				if watched() && c.files.changed() {
					c.reload(s, watched)
				}
			}
		}
	}()
	return ended
}

// reload reads the file and makes new calls use it, or logs why it cannot be used.
func (c *gatewayCommand) reload(s *server, watched func() bool) {
	if c.config == "" {
		s.p.Notice("reload: no --config, nothing to read")
		return
	}
	c.files = watchedFiles{}
	file, err := c.read(c.env)
	if err == nil {
		s.replace(file)
		s.config.Store(&configStatus{File: c.config, Loaded: time.Now().UTC(), Watched: watched()})
		s.p.Notice("%s was reloaded: %s", c.config, plural.Of(len(file.Upstreams), "upstream"))
		return
	}
	p := configProblem{Time: time.Now().UTC(), Text: err.Error()}
	if inside, ok := errors.AsType[*config.Error](err); ok && len(inside.Problems) > 0 {
		first := inside.Problems[0]
		p.Text, p.Hint, p.More = first.Place()+": "+first.Text, first.Hint, len(inside.Problems)-1
	} else if e, ok := errors.AsType[*term.Error](err); ok {
		p.Hint = e.Hint
	}
	s.p.Log.Error("reload failed; still running the previous configuration", slog.String("file", c.config), slog.String("reason", p.Text),
		slog.String("hint", p.Hint), slog.Int("moreProblems", p.More))
	status := *s.config.Load()
	status.Problem = &p
	s.config.Store(&status)
}

// watchedFiles notices changes of the files that a configuration was read from. A change is used when two looks in a row have found
// the same content, so that a file that is being written is rarely read. The zero value is ready to use.
type watchedFiles struct {
	sums    map[string][sha256.Size]byte // by name, as they were read
	pending [sha256.Size]byte            // digest of all files at the last look, if they differed
}

// read is [config.ReadFile] for a file that is watched from now on.
func (w *watchedFiles) read(name string) ([]byte, error) {
	data, err := config.ReadFile(name)
	if w.sums == nil {
		w.sums = map[string][sha256.Size]byte{}
	}
	w.sums[name] = contentSum(data, err)
	return data, err
}

func contentSum(data []byte, err error) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(data[:len(data):len(data)], "%v", err))
}

// changed reports whether a file has changed since it was read, and not since the last look.
func (w *watchedFiles) changed() bool {
	same, h := true, sha256.New()
	for _, name := range slices.Sorted(maps.Keys(w.sums)) {
		sum := contentSum(config.ReadFile(name))
		same = same && sum == w.sums[name]
		h.Write(sum[:])
	}
	now := [sha256.Size]byte(h.Sum(nil))
	settled := !same && now == w.pending
	w.pending = now
	return settled
}
