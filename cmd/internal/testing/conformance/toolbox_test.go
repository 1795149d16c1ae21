package conformance_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
)

func TestNodeThatIsTooOldIsNotUsed(t *testing.T) {
	for version, want := range map[string]bool{
		"v22.19.0": true, "v22.20.1": true, "v24.1.0": true,
		"v22.18.9": false, "v20.20.2": false, "v9.99.0": false, "22.19.0": false, "nonsense": false, "": false,
	} {
		t.Run(version, func(t *testing.T) {
			node := pretendNode(t, version)
			t.Setenv("CANDOR_TOOLS", t.TempDir())
			box, err := conformance.OpenToolbox()
			if err != nil {
				t.Fatal(err)
			}
			found, err := box.Node(t.Context())
			missing := (*conformance.MissingError)(nil)
			if want && found != node || !want && !errors.As(err, &missing) {
				t.Errorf("found %q, %v", found, err)
			}
		})
	}
}

func TestToolThatIsNotInstalledIsNamed(t *testing.T) {
	pretendNode(t, "v22.19.0")
	t.Setenv("CANDOR_TOOLS", t.TempDir())
	box, err := conformance.OpenToolbox()
	if err != nil {
		t.Fatal(err)
	}
	_, noInspector := box.Inspector(t.Context())
	_, noClient := box.Application(t.Context(), conformance.V2Modern, t.TempDir())
	for want, err := range map[conformance.Package]error{conformance.Inspector: noInspector, conformance.ClientV2: noClient} {
		missing := (*conformance.MissingError)(nil)
		if !errors.As(err, &missing) || missing.What != want.Name+"@"+want.Version {
			t.Errorf("%v does not name %s", err, want.Name)
		}
	}
}

// pretendNode puts a fake node with this version first in PATH.
func pretendNode(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	node := filepath.Join(dir, "node")
	if err := os.WriteFile(node, []byte("#!/bin/sh\necho '"+version+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return node
}
