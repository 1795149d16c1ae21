package fake_test

import (
	"slices"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/fake"
)

func TestLocalPortsAreThoseOfHTTPOnTheLoopback(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]fake.Port{
		"API_URL=http://127.0.0.1:8123/api":                        {{Number: 8123}},
		"API_URL=https://user:word@localhost:8443":                 {{Number: 8443, TLS: true}},
		"--url=http://[::1]:9200":                                  {{Number: 9200}},
		"HOST=localhost:11434":                                     {{Number: 11434}},
		"A=http://127.0.0.1:1,http://127.0.0.2:2":                  {{Number: 1}, {Number: 2}},
		"REDIS_URL=redis://localhost:6379":                         nil,
		"API_URL=http://api.example.com:8080":                      nil,
		"API_URL=http://127.0.0.1/api":                             nil,
		"API_URL=http://127.0.0.1:99999":                           nil,
		"API_URL=http://localhost.example.com:81":                  nil,
		"A=http://localhost:80 B=http://localhost:7 C=localhost:7": {{Number: 7}},
	} {
		if got := fake.LocalPorts([]string{text}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
