package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestGoReleaserBuildsWithTheSameFlags(t *testing.T) {
	content, err := os.ReadFile(filepath.FromSlash("../../../deploy/release/goreleaser.yaml"))
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
			t.Errorf("deploy/release/goreleaser.yaml lacks %q", text)
		}
	}
	if got := strings.Count(file, "=-l\n"); got != len(NotInlined) {
		t.Errorf("%d packages are not inlined there, %d here", got, len(NotInlined))
	}
}

// TestCandorLinksNoEngine checks that the engines of candor-cluster and its formats stay out of candor: they would make it larger, and
// slower to start, for everybody.
func TestCandorLinksNoEngine(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "github.com/candor-mcp/candor/cmd/candor")
	packages, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(packages), "github.com/candor-mcp/candor/ledger\n") {
		t.Fatalf("not the packages of candor:\n%s", packages)
	}
	for name := range strings.Lines(string(packages)) {
		for _, engine := range []string{"nats-io/", "pgx/v5/pgxpool", "parquet-go", "porcupine", "fleet/natsstore", "fleet/pgstore"} {
			if strings.Contains(name, engine) {
				t.Errorf("candor links %s", strings.TrimSpace(name))
			}
		}
	}
}
