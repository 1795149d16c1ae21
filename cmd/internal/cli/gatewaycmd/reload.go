package gatewaycmd

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/gateway/config"
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

// reloads reads the configuration again after each signal, each request, and each change of a watched file, until ctx is done. It
// closes the returned channel after the last reload.
func (c *gatewayCommand) reloads(ctx context.Context, cmd *cobra.Command, s *server, asked <-chan os.Signal) <-chan struct{} {
	ended := make(chan struct{})
	watched := func() bool { // the file may turn it off, and on again at the next signal
		return c.config != "" && (cmd.Flags().Changed("watch") && c.watch || !cmd.Flags().Changed("watch") && !s.routes.Load().file.NoWatch)
	}
	s.setConfig(configStatus{File: c.config, Loaded: s.started.UTC(), Watched: watched()})
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
			case done := <-s.reloadRequests:
				c.reload(s, watched)
				close(done)
			case <-tick.C:
				if watched() && c.files.changed() {
					c.reloadChanged(s, watched)
				}
			}
		}
	}()
	return ended
}

// reload reads the file and uses it, or logs one line for each problem.
func (c *gatewayCommand) reload(s *server, watched func() bool) {
	if c.config == "" {
		s.p.Notice("reload: no --config, nothing to read")
		return
	}
	c.files.forget()
	file, err := c.read(c.env.Getenv)
	if err != nil {
		c.logReloadError(s, err)
		s.setProblem(problemOf(err))
		return
	}
	c.use(s, file, watched, "was reloaded")
}

// reloadChanged is like reload, for a file that was changed by a person or a program that may not have finished: it does nothing if the
// content is the same as before, and logs a single line for a file with mistakes.
func (c *gatewayCommand) reloadChanged(s *server, watched func() bool) {
	before := c.files.digest()
	c.files.forget()
	file, err := c.read(c.env.Getenv)
	switch {
	case c.files.digest() == before: // only touched
	case err != nil:
		p := problemOf(err)
		attrs := []any{slog.String("file", c.config), slog.String("reason", p.Text), slog.String("hint", p.Hint)}
		if p.More > 0 {
			attrs = append(attrs, slog.Int("moreProblems", p.More))
		}
		s.p.Log.Warn("the configuration has changed but cannot be used; still running the previous one", attrs...)
		s.setProblem(p)
	default:
		c.use(s, file, watched, "has changed and was reloaded")
	}
}

// use makes new calls use the file.
func (c *gatewayCommand) use(s *server, file *config.File, watched func() bool, verb string) {
	s.replace(file)
	s.setConfig(configStatus{File: c.config, Loaded: time.Now().UTC(), Watched: watched()})
	s.p.Notice("%s %s: %s", c.config, verb, count(len(file.Upstreams), "upstream", "upstreams"))
}

func (s *server) setConfig(status configStatus) { s.config.Store(&status) }

// setProblem keeps the reason that the file is not used.
func (s *server) setProblem(p configProblem) {
	status := *s.config.Load()
	status.Problem = &p
	s.config.Store(&status)
}

// problemOf returns the first problem of a file.
func problemOf(err error) configProblem {
	p := configProblem{Time: time.Now().UTC(), Text: err.Error()}
	if inside, ok := errors.AsType[*config.Error](err); ok && len(inside.Problems) > 0 {
		first := inside.Problems[0]
		p.Text, p.Hint, p.More = first.Place()+": "+first.Text, first.Hint, len(inside.Problems)-1
	} else if e, ok := errors.AsType[*term.Error](err); ok {
		p.Hint = e.Hint
	}
	return p
}

// logReloadError logs why a file is not used, one line for each problem.
func (c *gatewayCommand) logReloadError(s *server, err error) {
	log := func(reason, hint string) {
		s.p.Log.Error("reload failed; still running the previous configuration", slog.String("file", c.config), slog.String("reason", reason), slog.String("hint", hint))
	}
	if inside, ok := errors.AsType[*config.Error](err); ok {
		for _, p := range inside.Problems {
			log(p.Place()+": "+p.Text, p.Hint)
		}
		return
	}
	p := problemOf(err)
	log(p.Text, p.Hint)
}
