// Package redact removes from a text what must not reach a peer: secrets, credentials in URLs,
// the directories of absolute paths, and characters that are invisible or control the output.
//
// It is pure: no I/O, no clock, no state, no regular expressions. [Text] accepts any bytes, takes
// linear time, is idempotent, and returns clean text as the same string.
//
// # Text that is kept
//
// A text is kept unless a rule matches. Words, UUIDs, git and sha256
// digests, timestamps, versions, dotted names (foo.bar.baz), request ids, MIME types, package
// names, ARNs, WebDAV lock tokens, JSON Pointers (/tags/1), routes (/v1/users), URL paths, base64 data and the
// placeholders of this package match no rule.
//
// # Secrets
//
// A secret is recognised by its shape (a vendor's prefix and alphabet, three JSON web token segments, a
// PEM private key), by its position (URL user information, a query parameter, an Authorization or
// Cookie header, user:password@tcp(host), the password flag of a well-known command, IDENTIFIED BY),
// or by the name before it ([Key]: name=value, name: value, "name":"value", --name value,
// <name>value</name>, name: Some("value"), and the word for a password in twenty languages), in plain,
// JSON-escaped, percent-encoded or HTML-escaped form.
// In prose ("Invalid API key provided: …", "token … rejected") the value must also look opaque.
// The secret becomes [redacted:kind], where kind is one of [Kinds]. A shape truncated by the end
// of the text or by "…" counts as complete.
//
// # Paths
//
// An absolute path keeps its last element: /home/ann/app/missing.txt becomes …/missing.txt. So do
// C:\…, \\host\share\…, file:// URLs and ~/…; a home directory itself becomes …/~. A text counts as a path
// if it has two elements or more and begins with a known root (/home, /usr, /srv, …), or
// ends in a file name with an extension, or follows a word such as "open" or "directory". Text that
// follows an HTTP method or begins like a route (/api, /v1) is a route and is kept.
//
// # Characters
//
// Control characters except \n and \t, format characters (bidi, zero-width, tags, soft hyphen, BOM),
// private use, noncharacters and other invisible code points are removed, and so are complete ANSI escape
// sequences; \r\n, \r, U+2028 and U+2029 become \n; invalid bytes become U+FFFD. Characters are removed
// before the rules run, so that they cannot hide a secret. Emoji built with
// U+200D are split into their parts, and joiners of Persian and Indic scripts are lost: the text
// stays readable, and nothing invisible remains in it.
package redact
