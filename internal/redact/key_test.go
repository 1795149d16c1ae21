package redact

import "testing"

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
		"session_id", "sessionId", "authorization_endpoint", "oauth", "id", "name", "code", "error_code", "partition_key", "idempotency_key",
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
