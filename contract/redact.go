package contract

import "github.com/candor-mcp/candor/internal/redact"

// Redact returns text without secrets, URL credentials, directories of absolute paths and unsafe characters. Clean text comes
// back as it is, without allocation. It is idempotent and linear. The constructors of package candor have applied it to every
// text in an error already; this is for text that goes elsewhere, such as a log or an upstream's own words.
func Redact(text string) string { return redact.Text(text) }

// RedactBytes is [Redact] for bytes. Clean input comes back as the same slice; b is never written to.
func RedactBytes(b []byte) []byte { return redact.Bytes(b) }

// SecretName reports whether a member of this name holds a secret, such as password or X-Api-Key.
func SecretName(name string) bool { return redact.Key(name) }
