package emits

import (
	"fmt"
	"strings"
	"testing"
)

type failures struct{ texts []string }

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func TestWhatIsNotEmittedIsTold(t *testing.T) {
	say := func(code string) func() string { return func() string { return code } }
	for list, want := range map[string]string{
		"candor/NOT_FOUND":                     "",
		"# a remark\n\ncandor/NOT_FOUND":       "",
		"candor/TIMEOUT":                       "nothing emits it",
		"candor/NO_SUCH_CODE":                  "NO_SUCH_CODE",
		"candor/NOT_FOUND\ncandor/UNAVAILABLE": `is not emitted, but "candor/CONFLICT"`,
		"":                                     "0 codes are listed",
	} {
		f := &failures{}
		emit := map[string]func() string{"candor/NOT_FOUND": say("candor/NOT_FOUND")}
		if strings.Contains(list, "UNAVAILABLE") {
			emit["candor/UNAVAILABLE"] = say("candor/CONFLICT")
		}
		Check(f, list, emit)
		if got := strings.Join(f.texts, "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}
