// Package redact takes out of a text what must not reach a peer: secrets, credentials in URLs,
// the directories of absolute paths, and characters that hide or steer.
//
// It is pure: no I/O, no clock, no state, no regular expressions. [Text] is total (any bytes),
// linear in the length of its input, idempotent, and returns clean text as the very same string.
//
// # What is left alone
//
// A text is plain until a rule has a reason to think otherwise. Words, UUIDs, git and sha256
// digests, timestamps, versions, dotted names (foo.bar.baz), request ids, MIME types, package
// names, ARNs, WebDAV lock tokens, JSON Pointers (/tags/1), routes (/v1/users), URL paths, base64 data and our own
// placeholders match no rule.
//
// # Secrets
//
// A secret is known by its shape (a vendor's prefix and alphabet, three JSON web token segments, a
// PEM private key), by its place (URL user information, a query parameter, an Authorization or
// Cookie header, user:password@tcp(host), the password flag of a well-known command, IDENTIFIED BY),
// or by the name in front of it ([Key]: name=value, name: value, "name":"value", --name value,
// <name>value</name>, name: Some("value"), and the word for a password in twenty languages), in plain,
// JSON-escaped, percent-encoded or HTML-escaped form.
// In prose ("Invalid API key provided: …", "token … rejected") the value must also look opaque.
// The secret becomes [redacted:kind], where kind is one of [Kinds]. A shape cut short by the end
// of the text or by "…" counts as whole.
//
// # Paths
//
// An absolute path keeps its last element: /home/ann/app/missing.txt becomes …/missing.txt. So do
// C:\…, \\host\share\…, file:// URLs and ~/…; a home directory itself becomes …/~. A path is taken
// for one if it has two elements or more and begins with a known root (/home, /usr, /srv, …), or
// ends in a file name with an extension, or follows a word such as "open" or "directory". What
// follows an HTTP method or begins like a route (/api, /v1) is a route and stays.
//
// # Characters
//
// Control characters but \n and \t, format characters (bidi, zero-width, tags, soft hyphen, BOM),
// private use, noncharacters and other invisible code points are removed, ANSI escape sequences as
// a whole; \r\n, \r, U+2028 and U+2029 become \n; invalid bytes become U+FFFD. They are removed and
// not shown, and before the rules look, so that no secret can hide behind one. Emoji built with
// U+200D fall apart into their parts and joiners of Persian and Indic scripts are lost: the text
// stays readable, and nothing invisible stays in it.
package redact
