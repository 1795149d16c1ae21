// Package fakeupstream is a fake upstream for an audited server: DNS and HTTP(S) on the loopback of a separate network namespace, where every name
// resolves to it and nothing else can be reached.
//
// It answers with the fault that [Upstream.Begin] sets: 401, 429 with Retry-After, an HTML page, garbage, or nothing. The server's reaction
// shows which failures it masks, swallows, retries without notice, or strips of status and delay.
//
// There is no fallback without namespaces, such as a proxy in the environment: many programs ignore a proxy, and their requests would reach
// the real service. [Available] returns why namespaces cannot be used; the cases are then skipped with that reason.
package fakeupstream

// The faults, as cases name them.
const (
	Down         = "down" // nothing listens: connections are refused
	Unauthorized = "401"
	Forbidden    = "403"
	NotFound     = "404"
	Conflict     = "409"
	Invalid      = "422"
	RateLimited  = "429" // with Retry-After: 17
	Broken       = "500" // with the HTML page of a proxy
	Unavailable  = "503" // with Retry-After: 23
	LoginPage    = "200html"
	Garbage      = "garbage" // declared as JSON, but not JSON
	Slow         = "slow"    // no answer before End
)

// The delays of [RateLimited] and [Unavailable] in seconds, chosen to be easy to find in an answer.
const (
	RateLimitedAfter = 17
	UnavailableAfter = 23
)

// Faults returns the faults that cases use, in the order in which they are tried.
func Faults() []string {
	return []string{Down, Unauthorized, Forbidden, NotFound, Conflict, Invalid, RateLimited, Broken, Unavailable, LoginPage, Garbage, Slow}
}

// Secret is part of every credential of [Upstream.Environ], so that a leak can be found by its text.
const Secret = "zz9secret"
