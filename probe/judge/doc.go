// Package judge holds what was seen of a server against the rules, and says what it means.
//
// The rules of the room: it is pure. It does no I/O, reads no clock, and the same run gives the same report, byte for byte.
package judge
