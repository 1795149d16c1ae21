// Package probe holds what an audit of an MCP server is made of: the cases that it is put through, what was seen, what that means, and
// the report.
//
// It is data and nothing else; the deeds are in the rooms below it:
//
//	drive    starts or calls a server, makes the calls, and returns a [Run]
//	fake     is the upstream of a server that is being driven: it answers 401, 429, garbage, or not at all
//	judge    holds a run against the rules and returns a [Report]; it is pure, so that a run can be judged again
//	report   writes a report for people and for programs, and compares two
//	profile  writes what was learnt as rules for the gateway
//	zoo      is a server with every defect that we know, to try all of this on
package probe
