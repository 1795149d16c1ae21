package gateway

import (
	"fmt"
	"strings"
	"testing"
)

// TestASecretIsHiddenHoweverItIsGivenAndWritten checks the forms of common configurations and the escapes of common encoders.
func TestASecretIsHiddenHoweverItIsGivenAndWritten(t *testing.T) {
	for _, given := range [][]string{
		{"--token", "f00dbabe99"},
		{"--token=f00dbabe99"},
		{"run", "-e", "API_KEY=f00dbabe99", "image"},
		{"run", "--env=API_KEY=f00dbabe99", "image"},
		{"--header", "Authorization: Bearer f00dbabe99"},
		{"--header=Authorization: Bearer f00dbabe99"},
	} {
		if got := string(CommandSecrets([]string{}, given).Redact([]byte("at f00dbabe99."))); got != "at [redacted]." {
			t.Errorf("%q: %s", given, got)
		}
	}
	const secret = `a/b&c"d0123`
	v := CommandSecrets([]string{"PIER_TOKEN=" + secret, "PIER_KEY_TOKEN=hunter2024", "PIER_OLD_TOKEN=hunter2024prodXY"}, nil)
	for _, written := range []string{secret, `a/b&c\"d0123`, `a\/b&c\"d0123`, `a/b\u0026c\"d0123`, "a%2Fb%26c%22d0123", "hunter2024", "hunter2024prodXY"} {
		if got := string(v.Redact([]byte(written))); got != "[redacted]" {
			t.Errorf("%s: %s", written, got)
		}
	}
	if CommandSecrets([]string{}, []string{"--require-token", "--name", "customers2024"}) != nil {
		t.Error("a flag without a value has hidden what follows it")
	}
}

func TestOnlyUnguessableValuesAreRedacted(t *testing.T) {
	for value, want := range map[string]bool{
		"f00dbabe99": true, "correct-horse-battery": true, "": false, "secret": false, "password": false, "12345678": false, "/etc/keys/pier1": false, "keys/robot1.json": false,
		"/" + strings.Repeat("aB3", 20): true,
		"https://pier1.example/key":     false, "please ask the operator": false,
	} {
		v := CommandSecrets([]string{fmt.Sprintf("PIER_TOKEN=%s", value)}, nil)
		if got := v != nil; got != want {
			t.Errorf("%q is hidden: %v, want %v", value, got, want)
		}
	}
}
