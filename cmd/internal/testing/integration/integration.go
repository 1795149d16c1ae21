// Package integration has only tests. They run library packages together with others that the modules of those packages do not
// require: an MCP SDK with candortest, Prometheus and OpenTelemetry with boundary.
package integration
