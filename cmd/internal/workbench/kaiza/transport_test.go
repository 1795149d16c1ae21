package kaiza_test

import "testing"

// overEveryTransport runs a test over stdio and over HTTP with and without protocol sessions, each with a separate env.
// dial connects. Over stdio each connection has a separate server; over HTTP they share one, which is started for the
// first connection.
func overEveryTransport(t *testing.T, run func(t *testing.T, p *env, dial func() *client), flags ...string) {
	t.Helper()
	listening := func(p *env, connect func(w *web) *client) func() *client {
		var w *web
		return func() *client {
			if w == nil {
				w = p.listen(flags...)
			}
			return connect(w)
		}
	}
	for name, dialer := range map[string]func(p *env) func() *client{
		"stdio":     func(p *env) func() *client { return func() *client { return &p.start(flags...).client } },
		"stateful":  func(p *env) func() *client { return listening(p, (*web).stateful) },
		"stateless": func(p *env) func() *client { return listening(p, (*web).stateless) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			run(t, p, dialer(p))
		})
	}
}
