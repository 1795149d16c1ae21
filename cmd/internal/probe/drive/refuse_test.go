package drive_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/drive"
)

// TestUnreachableServerErrorsHaveANextStep: each of these reads as "connection failed" to a program, and is another thing to do for a person.
func TestUnreachableServerErrorsHaveANextStep(t *testing.T) {
	t.Parallel()
	answer := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://elsewhere.invalid/mcp")
			w.WriteHeader(status)
		}
	}
	plain := httptest.NewServer(answer(http.StatusUnauthorized))
	defer plain.Close()
	moved := httptest.NewServer(answer(http.StatusTemporaryRedirect))
	defer moved.Close()
	secret := httptest.NewUnstartedServer(answer(http.StatusOK))
	secret.Config.ErrorLog = log.New(io.Discard, "", 0)
	secret.StartTLS()
	defer secret.Close()
	for address, want := range map[string]string{
		plain.URL: "--header 'Authorization: Bearer",
		moved.URL: "use the URL that it redirects to",
		strings.Replace(plain.URL, "http:", "https:", 1): "does not speak TLS",
		secret.URL:               "certificate not trusted",
		"http://nobody..zz/mcp/": "no such host", // no name at all, so that no resolver has to be there
	} {
		if run, err := drive.Drive(t.Context(), drive.Target{URL: address, Transport: drive.TransportHTTP}, quick()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %+v, want %q", address, err, run, want)
		}
	}
}
