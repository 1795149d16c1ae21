// Package probe has the data types of an audit of an MCP server: cases, observations, findings and the report.
//
// The packages below it do the work:
//
//	cases    plans the cases for the tools of a server
//	drive    starts or connects to a server, runs the cases, and returns a [Run]
//	fake     is the upstream of the audited server: it answers 401, 429, garbage, or not at all
//	judge    checks a run against the rules and returns a [Report]
//	report   writes reports for people and for programs, and compares two of them
//	profile  writes gateway rules for the failures of a server
//	zoo      is a server with known defects, for tests
package probe
