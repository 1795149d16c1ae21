package doctor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestAsksForLogin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status    int
		challenge string
		metadata  string // of the protected resource
		want      bool
	}{
		"challenge":       {status: 401, challenge: `Bearer resource_metadata="https://h/.well-known/oauth-protected-resource"`, want: true},
		"bare challenge":  {status: 401, challenge: "bearer", want: true},
		"metadata":        {status: 401, metadata: `{"resource":"https://h/mcp","authorization_servers":["https://auth.h"]}`, want: true},
		"other challenge": {status: 401, challenge: "Basic realm=x"},
		"other metadata":  {status: 401, metadata: `{"authorization_servers"`},
		"no metadata":     {status: 401},
		"forbidden":       {status: 403, challenge: "Bearer"},
		"open":            {status: 200, metadata: `{"authorization_servers":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/.well-known/oauth-protected-resource/mcp" && c.metadata != "":
					fmt.Fprint(w, c.metadata)
				case r.URL.Path == "/mcp" && r.Method == http.MethodPost:
					if c.challenge != "" {
						w.Header().Set("WWW-Authenticate", c.challenge)
					}
					w.WriteHeader(c.status)
				default:
					http.NotFound(w, r)
				}
			}))
			t.Cleanup(server.Close)
			at, err := url.Parse(server.URL + "/mcp")
			if err != nil {
				t.Fatal(err)
			}
			if got := Logins(t.Context(), []*url.URL{at})[at.String()]; got != c.want {
				t.Errorf("asks: %t, want %t", got, c.want)
			}
		})
	}
}
