package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGoReleaserBuildsWithTheSameFlags(t *testing.T) {
	content, err := os.ReadFile(filepath.FromSlash("../../../.goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := string(content)
	want := []string{"tags: [" + SlimTag + "]", `ldflags: ["` + LinkFlags + ` -X ` + VersionVariable + `=`}
	for _, pattern := range NotInlined {
		want = append(want, "- "+pattern+"=-l\n")
	}
	for _, text := range want {
		if !strings.Contains(file, text) {
			t.Errorf(".goreleaser.yaml lacks %q", text)
		}
	}
	if got := strings.Count(file, "=-l\n"); got != len(NotInlined) {
		t.Errorf("%d packages are not inlined there, %d here", got, len(NotInlined))
	}
}
