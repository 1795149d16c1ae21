package redact

import (
	"strings"
)

// Words of names. A name is split into words (camelCase, snake_case, kebab-case) and its
// last word determines its meaning: client_secret is a secret, secret_name is a name.

// level is how strongly a name indicates a secret.
type level uint8

const (
	none   level = iota
	weak         // may hold a secret: its value must look opaque
	strong       // holds a secret
)

// meaning is the kind of value that a name indicates, and how strongly it does.
type meaning struct {
	kind  string
	level level
}

// heads has the meanings of last words.
var heads = buildHeads([]wordsOf{
	{meaning{kindPassword, strong}, []string{"password", "passwords", "passwd", "passphrase", "passcode", "pwd",
		"passwort", "kennwort", "psw", "senha", "contrasena", "pgpassword", "pw", "passe", "parola", "wachtwoord", "heslo",
		"lozinka", "passwrd"}},
	{meaning{kindPassword, weak}, []string{"clave", "pass", "pin"}},
	{meaning{kindKey, weak}, []string{"ak", "sk", "appid", "license", "licence", "key", "keys", "userkey",
		"awsaccesskeyid"}},
	{meaning{kindSignature, weak}, []string{"sign", "sig", "signature", "hmac"}},
	{meaning{kindSecret, strong}, []string{"secret", "secrets", "mnemonic"}},
	{meaning{kindCredential, strong}, []string{"credential", "credentials", "creds"}},
	{meaning{kindAuth, strong}, []string{"authorization", "bearer"}},
	{meaning{kindAuth, weak}, []string{"authentication", "auth"}},
	{meaning{kindCookie, strong}, []string{"cookie", "cookies", "phpsessid", "jsessionid"}},
	{meaning{kindCookie, weak}, []string{"sessionid"}},
	{meaning{kindToken, strong}, []string{"token", "jwt", "apitoken"}},
	{meaning{kindKey, strong}, []string{"apikey", "apikeys", "appkey", "accountkey"}},
	{meaning{kindConnection, strong}, []string{"connectionstring", "connstring", "connstr"}},
	{meaning{kindToken, weak}, []string{"code", "session", "sid", "otp", "totp", "pat", "assertion", "ticket",
		"verifier"}},
	{meaning{kindSecret, weak}, []string{"seed", "salt"}},
})

// wordsOf are words with the same meaning.
type wordsOf struct {
	meaning
	words []string
}

func buildHeads(rows []wordsOf) map[string]meaning {
	m := map[string]meaning{}
	for _, row := range rows {
		for _, w := range row.words {
			m[w] = row.meaning
		}
	}
	return m
}

// fused are suffixes of words that were written together, such as dbpassword and accesstoken.
var fused = []wordsOf{
	{meaning{kindPassword, strong}, []string{"password", "passwd", "passphrase"}},
	{meaning{kindKey, strong}, []string{"apikey", "secretkey", "accesskey", "privatekey", "authkey"}},
	{meaning{kindSecret, strong}, []string{"clientsecret", "appsecret"}},
	{meaning{kindToken, strong}, []string{"authtoken", "accesstoken", "refreshtoken", "sessiontoken", "idtoken", "bottoken"}},
	{meaning{kindConnection, strong}, []string{"connectionstring"}},
}

// keyOwners are words before "key" that make it a secret.
var keyOwners = set("api", "access", "secret", "private", "signing", "sign", "encryption", "encrypt", "decryption", "master",
	"account", "auth", "subscription", "service", "ssh", "deploy", "shared", "storage", "app", "application", "admin", "consumer",
	"webhook", "hmac", "aes", "rsa", "gpg", "pgp", "ecdsa", "ed25519", "session", "bot", "license", "licence", "user", "client",
	"rest", "server", "integration", "personal", "root", "jwt", "cipher", "symmetric", "wallet", "openai", "anthropic", "stripe",
	"google", "maps", "tavily", "brave", "serper", "exa", "firecrawl", "openrouter", "groq", "gemini", "mistral", "sendgrid",
	"mailgun", "algolia", "datadog", "airtable", "linear", "supabase", "pinecone", "cohere", "deepseek", "perplexity", "x-api")

// keyOthers are words before "key" that make it something else, however opaque its value.
var keyOthers = set("primary", "foreign", "public", "publishable", "partition", "sort", "cache", "row", "object", "issue",
	"project", "idempotency", "routing", "group", "unique", "composite", "map", "translation", "config", "lookup", "index",
	"missing", "unknown", "duplicate", "invalid", "required", "dict", "property", "s3", "file", "hash", "shard", "board",
	"space", "epic", "parent", "node", "query", "react", "i18n", "message", "storage object", "dedup", "registry", "pub")

// tokenOthers are words before "token" for tokens that are not credentials: a position in a listing, which the
// caller must be able to send back, or a piece of a text.
var tokenOthers = set("page", "pagination", "next", "previous", "prev", "continuation", "continue", "cursor", "sync", "resume",
	"resumption", "cancellation", "progress", "unexpected", "illegal", "stop", "eos", "bos", "pad", "special", "mask", "per", "max", "min", "num", "total",
	"first", "last", "lock", "iterator", "scroll", "position", "delta", "change", "search", "fence", "fencing", "invalid_json")

// tokenOwners are words before "tokens" that make even the plural a secret; without one it is a number of tokens.
var tokenOwners = set("access", "refresh", "auth", "api", "bearer", "session", "oauth", "device", "push", "bot", "user")

// passOwners are words before "pass" that make it a password.
var passOwners = set("db", "database", "user", "smtp", "mysql", "pg", "postgres", "redis", "mongo", "ftp", "ssh", "admin",
	"root", "proxy", "http", "https", "mail", "email", "imap", "auth", "login", "rabbitmq", "amqp", "ldap", "my", "key", "store",
	"keystore", "sudo", "service", "app", "api", "basic")

// tails are words at the end of a name that do not change its meaning.
var tails = set("value", "val", "hash", "raw", "plain", "plaintext", "text", "header", "base", "hex", "old", "new",
	"current", "prod", "production", "dev", "test", "staging", "live", "env", "input", "confirmation", "confirm", "again", "encoded",
	"str", "bytes", "data")

// harmlessWords are values that are not secrets after any name.
var harmlessWords = set("true", "false", "null", "nil", "none", "undefined", "nan", "string", "number", "boolean", "bool", "object",
	"array", "integer", "int", "str", "required", "optional", "missing", "invalid", "empty", "unset", "set", "not", "is", "are",
	"was", "must", "should", "may", "can", "cannot", "can't", "expected", "field", "unknown", "expired", "yes", "no", "enabled",
	"disabled", "please", "this", "the", "a", "an", "to", "or", "and", "for", "in", "of", "on", "at", "from", "with", "has", "have",
	"had", "be", "been", "does", "do", "did", "flag", "option", "argument", "parameter", "value", "requires", "instead", "if",
	"unauthorized", "forbidden", "failed", "error", "unexpected", "malformed", "incorrect", "wrong", "bad", "denied", "rejected",
	"revoked", "redacted", "hidden", "masked", "filtered", "sensitive", "secret", "password", "token", "apikey", "type", "any",
	"bearer", "basic", "digest", "default", "env", "file", "stdin", "prompt", "ok", "valid", "present", "absent", "provided",
	"you", "your", "it", "that", "which", "we", "use", "using", "check", "see", "via", "by", "as", "but", "before", "after",
	"could", "would", "will", "got", "found", "only", "too", "at least", "length", "minimum", "maximum", "property", "key",
	"unsupported", "mismatch", "exceeded", "limit", "auth", "authentication", "authorization", "credentials", "header", "oauth",
	"oauth2", "and/or", "i", "received", "str,", "input", "text", "example", "changeme", "xxx", "todo", "n/a", "na",
	"obligatoria", "obligatorio", "requerida", "requerido", "incorrecta", "incorrecto", "obligatoire", "requis", "incorrecte", "invalide")

// proseWords indicate a sentence about a value; a quoted value with two of them is not a secret.
var proseWords = set("is", "are", "be", "must", "required", "should", "cannot", "can't", "invalid", "missing", "at", "least", "not",
	"this", "the", "a", "an", "too", "short", "long", "blank", "empty", "field", "value", "valid", "string", "characters", "character(s)",
	"expected", "type", "of", "to", "or", "may", "was", "has", "have", "does", "for", "in", "with", "incorrect", "wrong", "expired",
	"your", "you", "please", "contain", "contains", "match", "provide", "provided", "need", "needed", "use", "used", "none", "no")

func set(list ...string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, w := range list {
		m[w] = true
	}
	return m
}

// arnLimit bounds how far back inARN searches for the beginning of an ARN.
const arnLimit = 160

// inARN reports whether the word at i is a part of an Amazon resource name, such as arn:aws:secretsmanager:…:secret:name, where
// the words between the colons are types of resources.
func inARN(s string, i int) bool {
	if i == 0 || s[i-1] != ':' {
		return false
	}
	from := (ident | colon | slash).back(s, i, arnLimit)
	at := strings.LastIndex(s[from:i], "arn:aws")
	return at == 0 || at > 0 && !alnum.in(s[from+at-1])
}
