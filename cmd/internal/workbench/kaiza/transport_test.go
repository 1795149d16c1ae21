package kaiza_test

import "testing"

// overEveryTransport runs a test over stdio and over HTTP in both eras, each with a place of its own. dial connects; over stdio each
// connection is a server of its own, over HTTP they share one, which is started when the first connects.
func overEveryTransport(t *testing.T, run func(t *testing.T, p *place, dial func() *client), flags ...string) {
	t.Helper()
	listening := func(p *place, connect func(w *web) *client) func() *client {
		var w *web
		return func() *client {
			if w == nil {
				w = p.listen(flags...)
			}
			return connect(w)
		}
	}
	for name, dialer := range map[string]func(p *place) func() *client{
		"stdio":     func(p *place) func() *client { return func() *client { return &p.start(flags...).client } },
		"stateful":  func(p *place) func() *client { return listening(p, (*web).stateful) },
		"stateless": func(p *place) func() *client { return listening(p, (*web).stateless) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			run(t, p, dialer(p))
		})
	}
}
