package emits

import (
	"fmt"
	"strings"
	"testing"
)

type failures struct{ names, texts []string }

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func (f *failures) Run(name string, test func(*failures)) bool {
	f.names = append(f.names, name)
	test(f)
	return true
}

func TestEachCodeIsASubtestOfItsName(t *testing.T) {
	f := &failures{}
	Check(f, "# a remark\ncandor/TIMEOUT\ncandor/NOT_FOUND\n", map[string]func(*failures) string{})
	if got := strings.Join(f.names, " "); got != "candor/TIMEOUT candor/NOT_FOUND" {
		t.Errorf("the subtests are %s", got)
	}
}

func TestWhatIsNotEmittedIsTold(t *testing.T) {
	say := func(code string) func(*failures) string { return func(*failures) string { return code } }
	for list, want := range map[string]string{
		"candor/NOT_FOUND":                     "",
		"# a remark\n\ncandor/NOT_FOUND":       "",
		"candor/TIMEOUT":                       "nothing emits it",
		"candor/NO_SUCH_CODE":                  "NO_SUCH_CODE",
		"candor/NOT_FOUND\ncandor/UNAVAILABLE": `is not emitted, but "candor/CONFLICT"`,
		"":                                     "0 codes are listed",
	} {
		f := &failures{}
		emit := map[string]func(*failures) string{"candor/NOT_FOUND": say("candor/NOT_FOUND")}
		if strings.Contains(list, "UNAVAILABLE") {
			emit["candor/UNAVAILABLE"] = say("candor/CONFLICT")
		}
		Check(f, list, emit)
		if got := strings.Join(f.texts, "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}
