package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const passing = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.01s\n"}
`

const skipping = `{"Action":"output","Package":"p","Test":"TestC","Output":"=== RUN   TestC\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: needs the corpus\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"--- SKIP: TestC (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
`

const failing = `{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:9: boom\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
`

func TestReportTellsFailuresAndSkips(t *testing.T) {
	for name, tc := range map[string]struct {
		in, allowed string
		wantErr     string
		wantOut     string
	}{
		"all is well":         {passing, "", "", "ok  \tp"},
		"a failure":           {passing + failing, "", "1 tests failed", "boom"},
		"an unknown skip":     {passing + skipping, "", "skipped without a reason", "SKIPPED WITHOUT A REASON: p TestC"},
		"a known skip":        {passing + skipping, "needs the corpus # it is large", "", "in order: it is large"},
		"another skip":        {passing + skipping, "needs Node # not everywhere", "skipped without a reason", ""},
		"no reason given":     {passing, "needs Node", "a skip needs a reason", ""},
		"nothing ran":         {"", "", "no test ran", ""},
		"package of no tests": {passing + `{"Action":"skip","Package":"q"}` + "\n", "", "", "1 passed, 0 failed, 0 skipped"},
		"a build that broke":  {`{"Action":"build-output","ImportPath":"p","Output":"x.go:1: undefined: y\n"}` + "\n", "", "no test ran", "undefined: y"},
	} {
		t.Run(name, func(t *testing.T) {
			list := filepath.Join(t.TempDir(), "skips")
			if err := os.WriteFile(list, []byte(tc.allowed), 0o600); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			err := run([]string{list}, strings.NewReader(tc.in), &out)
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
			if !strings.Contains(out.String(), tc.wantOut) {
				t.Errorf("output %q does not say %q", out.String(), tc.wantOut)
			}
		})
	}
}
