package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPageListsEveryFault compares docs/doctor.md with the checks, and with the faults in the source.
func TestPageListsEveryFault(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../../docs/doctor.md"))
	if err != nil {
		t.Fatal(err)
	}
	var checks, listed []string
	word := regexp.MustCompile("`([a-z-]+)`")
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		checks = append(checks, word.FindStringSubmatch(cells[1])[1])
		for _, found := range word.FindAllStringSubmatch(cells[2], -1) {
			listed = append(listed, found[1])
		}
	}
	if got := slices.Compact(checks); !slices.Equal(got, Names()) {
		t.Errorf("the page has the checks %q, want %q", got, Names())
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	call := regexp.MustCompile(`(?:failed|warning)\("([a-z-]+)"`)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range call.FindAllSubmatch(source, -1) {
			made = append(made, string(found[1]))
		}
	}
	slices.Sort(listed)
	slices.Sort(made)
	if want := slices.Compact(made); !slices.Equal(slices.Compact(listed), want) {
		t.Errorf("the page has the faults %q, want %q", listed, want)
	}
}
