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

var heads = map[string]meaning{
	"password": {kindPassword, strong}, "passwords": {kindPassword, strong}, "passwd": {kindPassword, strong},
	"passphrase": {kindPassword, strong}, "passcode": {kindPassword, strong}, "pwd": {kindPassword, strong},
	"passwort": {kindPassword, strong}, "kennwort": {kindPassword, strong}, "senha": {kindPassword, strong},
	"contrasena": {kindPassword, strong}, "pgpassword": {kindPassword, strong}, "pw": {kindPassword, strong}, "parola": {kindPassword, strong},
	"wachtwoord": {kindPassword, strong}, "heslo": {kindPassword, strong}, "lozinka": {kindPassword, strong}, "clave": {kindPassword, weak},
	"ak": {kindKey, weak}, "sk": {kindKey, weak}, "sign": {kindSignature, weak}, "passwrd": {kindPassword, strong},
	"secret": {kindSecret, strong}, "secrets": {kindSecret, strong}, "mnemonic": {kindSecret, strong},
	"credential": {kindCredential, strong}, "credentials": {kindCredential, strong}, "creds": {kindCredential, strong},
	"authorization": {kindAuth, strong}, "bearer": {kindAuth, strong}, "authentication": {kindAuth, weak},
	"cookie": {kindCookie, strong}, "cookies": {kindCookie, strong},
	"phpsessid": {kindCookie, strong}, "jsessionid": {kindCookie, strong}, "sessionid": {kindCookie, weak},
	"token": {kindToken, strong}, "jwt": {kindToken, strong}, "apikey": {kindKey, strong}, "apikeys": {kindKey, strong},
	"apitoken": {kindToken, strong}, "appkey": {kindKey, strong}, "accountkey": {kindKey, strong},
	"connectionstring": {kindConnection, strong}, "connstring": {kindConnection, strong}, "connstr": {kindConnection, strong},
	"auth": {kindAuth, weak}, "pass": {kindPassword, weak}, "sig": {kindSignature, weak}, "signature": {kindSignature, weak},
	"hmac": {kindSignature, weak}, "code": {kindToken, weak}, "session": {kindToken, weak}, "sid": {kindToken, weak},
	"otp": {kindToken, weak}, "totp": {kindToken, weak}, "pat": {kindToken, weak}, "appid": {kindKey, weak},
	"license": {kindKey, weak}, "licence": {kindKey, weak}, "assertion": {kindToken, weak}, "ticket": {kindToken, weak},
	"seed": {kindSecret, weak}, "salt": {kindSecret, weak}, "key": {kindKey, weak}, "keys": {kindKey, weak},
	"userkey": {kindKey, weak}, "verifier": {kindToken, weak}, "awsaccesskeyid": {kindKey, weak}, "pin": {kindPassword, weak},
}

// fused are suffixes of words that were written together, such as dbpassword and accesstoken.
var fused = []struct {
	ending string
	meaning
}{
	{"password", meaning{kindPassword, strong}},
	{"passwd", meaning{kindPassword, strong}},
	{"passphrase", meaning{kindPassword, strong}},
	{"apikey", meaning{kindKey, strong}},
	{"secretkey", meaning{kindKey, strong}},
	{"accesskey", meaning{kindKey, strong}},
	{"privatekey", meaning{kindKey, strong}},
	{"authkey", meaning{kindKey, strong}},
	{"clientsecret", meaning{kindSecret, strong}},
	{"appsecret", meaning{kindSecret, strong}},
	{"authtoken", meaning{kindToken, strong}},
	{"accesstoken", meaning{kindToken, strong}},
	{"refreshtoken", meaning{kindToken, strong}},
	{"sessiontoken", meaning{kindToken, strong}},
	{"idtoken", meaning{kindToken, strong}},
	{"bottoken", meaning{kindToken, strong}},
	{"connectionstring", meaning{kindConnection, strong}},
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
var tails = set("value", "val", "hash", "raw", "plain", "plaintext", "text", "header", "b64", "base", "base64", "hex", "old", "new",
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
