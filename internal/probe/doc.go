// Package probe has the data types of an audit of an MCP server: cases, observations, findings and the report.
//
// Package rules checks a run against the rules and returns a [Report]; candortest applies some of the same rules. The packages below
// cmd/internal/probe do the rest:
//
//	cases         plans the cases for the tools of a server
//	driver        starts or connects to a server, runs the cases, and returns a [Run]
//	fakeupstream  is the upstream of the audited server: it answers 401, 429, garbage, or not at all
//	report        writes reports for people and for programs, and compares two of them
//	profile       writes gateway rules for the failures of a server
//	zoo           is a server with known defects, for tests
package probe
