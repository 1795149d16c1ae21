package config

import (
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/dialect"
)

// upstream adds an upstream with that name and returns the value that reads it.
func (d *draft) upstream(name string) (value, error) {
	if err := CheckName(name); err != nil {
		return value{}, err
	}
	u := At(name, nil)
	return then(mapping("an upstream", func() []key { return d.upstreamKeys(&u) }), func(r *reader, n ast.Node) {
		if m := u.check(); m != nil {
			r.fail(firstKey(n), m)
			return
		}
		d.upstreams = append(d.upstreams, &u)
	}), nil
}

// check returns a mistake if settings contradict each other.
func (u *Upstream) check() *Mistake {
	switch {
	case (u.URL == nil) == (len(u.Command) == 0 || u.Command[0] == ""):
		return mistake("give url: http://… for a server that runs, or command: [npx, …] for one to be started",
			"the upstream %s needs one of url and command", u.Name)
	case u.URL != nil && (len(u.Env) > 0 || u.Dir != "" || u.Shared || u.Restart > 0):
		return mistake("leave them out", "env, cwd, shared and restart are for a command, and the upstream %s has a url", u.Name)
	case u.URL == nil && len(u.HTTP.Header) > 0:
		return mistake("leave them out", "headers are for a url, and the upstream %s has a command", u.Name)
	}
	return nil
}

func (d *draft) upstreamKeys(u *Upstream) []key {
	o := &u.Options
	return []key{
		{name: "url", value: parsed(&u.URL, "an address such as http://127.0.0.1:3000/mcp", ParseURL), about: "the URL of a server that speaks streamable HTTP or legacy SSE"},
		{name: "command", value: words(&u.Command, "a list of words such as [npx, -y, some-mcp-server]"),
			about: "a server on standard input and output, started by the gateway"},
		{name: "env", value: environment(&u.Env, &u.Secrets), about: "variables for the command, added to the environment of the gateway without the secrets of other upstreams; a value may contain `${NAME}`"},
		{name: "cwd", value: parsed(&u.Dir, "an absolute path such as /srv/files", absolute), about: "the folder in which the command is started; default that of the gateway"},
		{name: "shared", value: boolean(func(on bool) { u.Shared = on }), about: "whether all sessions share one server; default false: one server per session"},
		{name: "restart", value: integer(&u.Restart, 0, MaxRestarts), about: "restarts per minute of a server that ends; default 0"},
		{name: "mode", value: choice(&o.Mode, "mode", gateway.Modes()), about: "how failing answers may be changed"},
		{name: "dialect", value: dialectValue(&o.Dialect), about: "the dialect of answers that the gateway writes itself"},
		{name: "mirror", value: boolean(func(on bool) { o.Mirror = on }), about: "whether those answers repeat the error in structuredContent; default false"},
		{name: "client", value: choice(&o.Client, "client", gateway.ClientNames()), about: "the client program that reads the answers"},
		{name: "speaks", value: choice(&o.Speaks, "dialect", dialect.Names()), about: "the dialect of the server: its errors are always failures"},
		{name: "timeout", value: deadline(&o.Timeout), about: "how long a call may take without reporting progress"},
		{name: "startTimeout", value: deadline(&o.StartTimeout), about: "how long the server may take to answer `initialize`, its installation included"},
		{name: "tools", value: named("tool", "tools by name", func(name string) (value, error) { return tool(o, name), nil }), about: "settings of single tools"},
		{name: "retry", value: again(&o.Retry), about: "retries for read-only or idempotent calls; default 0"},
		{name: "breaker", value: breakerPolicy(&o.Breaker), about: "the circuit breaker; `off` disables it"},
		{name: "repeats", value: repeatPolicy(&o.Repeats), about: "when a client that repeats a failing call is refused; `off` disables it"},
		{name: "validate", value: validation(&o.Validate), about: "which calls are refused because their arguments do not fit the tool's schema; default lenient"},
		{name: "headers", value: headers(u.HTTP.Header, &u.Secrets), about: "headers to set on every request to the server; a value may contain `${NAME}`"},
		{name: "profile", value: d.profile(u), about: "a file with rules for this server"},
		{name: "masks", value: masks(o), about: "which successes of a tool are failures"},
		{name: "codes", value: codes(o), about: "what the server's errors mean"},
		{name: "results", value: results(o), about: "tools whose JSON-RPC errors are returned as results with `isError`, so that a model sees them"},
	}
}

// absolute refuses a relative path, which would depend on where the gateway is started.
func absolute(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", mistake("give an absolute path such as /srv/files", "%s: not an absolute path", quote(path))
	}
	return filepath.Clean(path), nil
}

func tool(o *gateway.Options, name string) value {
	return mapping("a tool", func() []key {
		return []key{
			{name: "timeout", about: "how long a call of this tool may take", value: forTool(&o.Timeouts, name, deadline)},
			{name: "validate", about: "which calls of this tool are refused because of their arguments", value: forTool(&o.ValidateTools, name, validation)},
		}
	})
}

// forTool returns a value that reads a setting of one tool with read, and stores it in the settings by tool.
func forTool[T any](settings *map[string]T, tool string, read func(into *T) value) value {
	var setting T
	return then(read(&setting), func(*reader, ast.Node) {
		if *settings == nil {
			*settings = map[string]T{}
		}
		(*settings)[tool] = setting
	})
}

func validation(into *gateway.Validation) value {
	return choice(into, "validation", gateway.Validations())
}

func deadline(into *time.Duration) value {
	return parsed(into, "a duration such as 30s, or none", ParseDeadline)
}

func dialectValue(into *dialect.Dialect) value {
	var name string
	return then(choice(&name, "dialect", dialect.Names()), func(*reader, ast.Node) {
		*into, _ = dialect.Lookup(name) // cannot fail, because it is one of Names
	})
}

// MaxRestarts is the maximum number of restarts of a server per minute.
const MaxRestarts = 60

// MaxRetries is the maximum number of retries of a call.
const MaxRetries = 9

// again returns a value that reads the number of retries, which is one less than the number of attempts.
func again(p *gateway.RetryPolicy) value {
	return then(integer(&p.Attempts, 0, MaxRetries), func(*reader, ast.Node) { p.Attempts++ })
}

func breakerPolicy(p *gateway.BreakerPolicy) value {
	return either(off(&p.Off), mapping("breaker", func() []key {
		return []key{
			{name: "failures", value: integer(&p.Failures, 1, 100_000), about: "consecutive failures of the server; default 10"},
			{name: "rest", value: parsed(&p.TrialInterval, "a duration such as 10s", ParseDuration), about: "the time before a trial call, and between two; default 10s"},
		}
	}))
}

func repeatPolicy(p *gateway.RepeatPolicy) value {
	return either(off(&p.Off), mapping("repeats", func() []key {
		return []key{
			{name: "after", value: integer(&p.After, 2, 100_000), about: "failures with the same arguments before such calls are refused; default 5"},
			{name: "window", value: parsed(&p.Window, "a duration such as 1m", ParseDuration), about: "the window in which they count, and the longest time between two trials; default 1m"},
		}
	}))
}

// off returns a value that accepts only off or false.
func off(into *bool) value {
	return scalar("off", map[string]any{"enum": []any{"off", false}}, func(text string) error {
		if text != "off" && text != "false" {
			return mistake("give off, or a mapping", "%s is not off", quote(text))
		}
		*into = true
		return nil
	})
}
