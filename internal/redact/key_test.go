package redact

import (
	"strings"
	"testing"
)

func TestKeyKnowsNamesOfSecrets(t *testing.T) {
	for _, name := range append([]string{
		"Password", "PASSWORD", "userPassword", "user_password", "new-password", "passwordHash", "password2", "API Key", "APIKey", "apikey", "X-API-KEY",
		"authorization", "Authorization", "Proxy-Authorization", "cookie", "Set-Cookie", "session_token", "connectionString",
		"CONNECTION_STRING", "github.token", "secrets", "bearer", "jwt", "token", "Bearer",
	}, named...) {
		if !Key(name) {
			t.Errorf("Key(%q) is false", name)
		}
	}
}

func TestKeyLeavesOtherNamesAlone(t *testing.T) {
	for _, name := range []string{
		"", "key", "keys", "Key", "keyboard", "monkey", "primary_key", "primaryKey", "foreignKey", "public_key", "publicKey", "token_count", "tokenCount",
		"max_tokens", "maxTokens", "tokens", "input_tokens", "tokenErrorCode", "token_type", "tokenizer", "author", "authors", "authority", "authorName",
		"passed", "passing", "compass", "bypass", "pass", "pagination_token", "next_page_token", "nextPageToken", "pageToken", "continuationToken",
		"syncToken", "progressToken", "secretary", "secret_name", "secretName", "password_policy", "passwordMinLength", "cookie_name", "session",
		"session_id", "sessionId", "authorization_endpoint", "io.modelcontextprotocol/authorization", "oauth", "id", "name", "code", "error_code", "partition_key", "idempotency_key",
		"issue_key", "cache_key", "credential_type", "signature", "hash", "description", "----", "___", "日本語", "key_id", "passport",
	} {
		if Key(name) {
			t.Errorf("Key(%q) is true", name)
		}
	}
}

func TestKeyDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Key("X-My-Very-Long-Header-Name-Api-Key") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestQuickTestsSkipNothing compares the rules with and without the tests that skip most words and names.
func TestQuickTestsSkipNothing(t *testing.T) {
	var names []string
	for w := range heads {
		names = append(names, w, strings.ToUpper(w), "db_"+w, "db"+strings.ToUpper(w), "db"+strings.ToUpper(w[:1])+w[1:], w+"Text", w+"2")
	}
	for w := range nouns {
		names = append(names, strings.ToUpper(w))
	}
	for _, f := range fused {
		names = append(names, f.words...)
	}
	names = append(names, "secret_id", "secretId", "accessKeyID", "conn_uri", "AuthTokens", "bearer", "basic", "sk-", "SK", "eyJhbGciOi")
	names = append(names, foreignWords...)
	var list []string
	for _, name := range names {
		for _, quote := range []string{"", `"`, `\"`, "&quot;", "%22", `\u0022`, "'", "]", " ", `\n`} {
			for _, sep := range []string{"=", ": ", "%3D", " => ", "：", ", ", " "} {
				value := "Zx9kq7Lm2Pq8Rt5vWy3B4n6"
				list = append(list, quote+name+quote+sep+value, `see {"name":"`+name+`","value":`+quote+value+quote+"}")
			}
		}
	}
	fast := make([]string, len(list))
	for i, s := range list {
		fast[i] = Text(s)
	}
	s, n := *starts, *nameEnds
	defer func() { *starts, *nameEnds = s, n }()
	for i := range starts {
		starts[i], nameEnds[i] = ^uint64(0), ^uint64(0)
	}
	for i, s := range list {
		if slow := Text(s); slow != fast[i] {
			t.Errorf("%q: %q, but all rules give %q", s, fast[i], slow)
		}
	}
}
