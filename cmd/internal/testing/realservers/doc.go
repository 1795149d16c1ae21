// Package realservers tests the gateway and probe with third-party servers, in its tests: npm packages that run without credentials and
// without a network. Each is probed directly and through the gateway: a failure must gain the envelope, a success must
// arrive unchanged.
package realservers
