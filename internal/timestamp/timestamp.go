// Package timestamp writes and reads the times of an error: ISO 8601, UTC, milliseconds.
package timestamp

import "time"

// Layout is the wire form: ISO 8601, UTC, milliseconds.
const Layout = "2006-01-02T15:04:05.000Z"

// Append appends t in the form of [Layout]. It is faster than time.Time.AppendFormat, which has a short path for RFC 3339
// only.
func Append(dst []byte, t time.Time) []byte {
	dst = t.UTC().AppendFormat(dst, time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(dst[:len(dst)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// Parse reads a timestamp in any ISO 8601 spelling that Go's RFC 3339 parser takes.
func Parse(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC().Truncate(time.Millisecond), err
}
