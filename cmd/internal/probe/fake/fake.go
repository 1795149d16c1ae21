// Package fake is the upstream of a server that is being driven: DNS and HTTP(S) on the loopback of a network namespace of the server's
// own, where every name leads to it, and nothing leads out.
//
// It answers whatever [Upstream.Begin] names: 401, 429 with Retry-After, a page in HTML, noise, nothing. What the server then says to its
// client shows which failures it masks, swallows, retries unseen, or strips of status and delay.
//
// There is no fallback without namespaces, such as a proxy in the environment: many programs pass a proxy by, and a request that does
// would reach the real service with a real effect. [Available] says why it is not there; the cases are then skipped with that reason.
package fake

// The faults, by the names that cases have.
const (
	Down         = "down" // nothing listens: connections are refused
	Unauthorized = "401"
	Forbidden    = "403"
	NotFound     = "404"
	Conflict     = "409"
	Invalid      = "422"
	RateLimited  = "429" // with Retry-After: 17
	Broken       = "500" // the page in HTML of a proxy
	Unavailable  = "503" // with Retry-After: 23
	LoginPage    = "200html"
	Garbage      = "garbage" // says that it is JSON, and is not
	Slow         = "slow"    // no answer before End
	Reset        = "reset"   // the connection is reset when the request has come; not in [Faults], which are those that cases have names for
)

// The delays that [RateLimited] and [Unavailable] ask for, in seconds: numbers that are easy to find in what a server says.
const (
	RateLimitedAfter = 17
	UnavailableAfter = 23
)

// Faults returns the faults that cases are made of, in the order in which they are tried.
func Faults() []string {
	return []string{Down, Unauthorized, Forbidden, NotFound, Conflict, Invalid, RateLimited, Broken, Unavailable, LoginPage, Garbage, Slow}
}

// Secret is part of every credential that [Upstream.Environ] gives, so that a leak is a string match.
const Secret = "zz9secret"

// Count is what came to the upstream between Begin and End.
type Count struct {
	Requests  int // HTTP requests
	Refused   int // connections to where nothing listens; one that is tried over IPv4 and IPv6 counts once
	Lookups   int // questions to DNS
	Untrusted int // TLS that ended because the client does not trust the throw-away authority: it has seen no fault; may be told late
}
