package redact

import (
	"strings"
	"testing"
)

// leaks are ways in which servers print, or may print, a credential. The
// percent sign is replaced by it.
var leaks = []string{
	"Error: Invalid API key '%'", "401 Unauthorized for token %", "Client(key=%)", "connect ECONNREFUSED redis://:%@localhost:6379",
	"https://api.telegram.org/bot%/getMe", `Illegal header value b'Bearer %\n'`, `{"auth": {"user":"x","pass":"%"}}`,
	`_header: 'GET /x HTTP/1.1\r\nAuthorization: token %\r\nHost: x\r\n'`, "curl -u user:% https://x", "argument --api-key: invalid value: '%'",
	"'%' is not a valid API key", `"%" is an invalid access token`, "Could not parse % as API key", "Invalid key: %", "with key % for x",
	"https://mainnet.infura.io/v3/%", "api_key\n  Value error, bad [type=value_error, input_value='%']", "X-Api-Key: %", "x-api-key=%",
	"config: { apiKey: '%', b: 1 }", "env TAVILY_API_KEY=% node x", "Authentication failed (token: %)", "Bad credentials: %",
	"credentials % were rejected", "authorization=[%]", "('x-api-key', '%')", "login failed: user=bob pass=%", "mongodb+srv://bob:%@c.example.net/db?x=1",
	"Data Source=x;User ID=sa;Pwd=%;", "jdbc:mysql://h/db?user=a&password=%", "Set-Cookie: sid=%; Path=/", "cookie: session=%", "{'Cookie': 'sid=%'}",
	"x-amz-security-token=%", "https://s3.example/?a=b&X-Amz-Signature=%", "https://b.example/?sig=%&se=2", "AWS_SECRET_ACCESS_KEY=%", "SecretAccessKey: %",
	"private key %", "Private key: %", "token='%'", `token: "%"`, `{\\\"token\\\":\\\"%\\\"}`, `API token "%" is malformed`, "Access token % expired at 12",
	"GET /v1/x?apikey=% HTTP/1.1", "Token %", "token\t%", "api-key:%", "Key: %", "API_KEY is %", "api key (%) invalid", "access_token -> %", `token => "%"`,
	"'token' => '%'", `:token => "%"`, "NOTION_TOKEN: %,", "Using token: %...", "x-goog-api-key: [%]", "https://h.example/?access_token[]=%", "-Dpassword=%", "--password=%",
	`{"name":"API_KEY","value":"%"}`, "{\n  \"name\": \"API_KEY\",\n  \"value\": \"%\"\n}", "API_KEY '%'", "Authorization: AWS4-HMAC-SHA256 Credential=%/x, Signature=abc",
	"https://api.openweathermap.example/data?q=x&appid=%", `headers={'Authorization': 'Bearer %', 'Accept': '*/*'}`, `passwd="%"`,
}

func TestKnownLeaksAreClosed(t *testing.T) {
	secret := "qq7" + "hidden-0123456789abcdef"
	for _, form := range leaks {
		s := strings.Replace(form, "%", secret, 1)
		out := Text(s)
		if strings.Contains(out, "hidden") || strings.Contains(out, "0123456789") {
			t.Errorf("left in %q", out)
		}
		if Text(out) != out {
			t.Errorf("not stable: %q", out)
		}
	}
}

func TestHostileTextsSettle(t *testing.T) {
	if testing.Short() {
		t.Skip("many large texts; see BenchmarkHostile for the cost")
	}
	for _, piece := range hostile {
		s := strings.Repeat(piece, 128<<10/len(piece))
		if out := Text(s); Text(out) != out || out == withheld {
			t.Errorf("%q repeated does not settle", piece)
		}
	}
}
