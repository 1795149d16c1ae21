package ledgerconfig

import (
	"strings"
	"testing"
)

func TestFolderIsNeverAStore(t *testing.T) {
	t.Parallel()
	for named, want := range map[string]string{"here": "here", "none": "none", "file:here": "here", "file:///here": "/here", `C:\here`: `C:\here`} {
		if got, err := Folder(named, func(string) string { return "" }); got != want || err != nil {
			t.Errorf("%s: %q, %v", named, got, err)
		}
	}
	for _, store := range []string{"nats://h", "tls://h", "postgres://h/d", "postgresql://h/d", "file:here?dir=there", "file:"} {
		_, err := Folder("", func(string) string { return store })
		if err == nil || !strings.Contains(err.Error(), "candor fleet ship") {
			t.Errorf("%s: %v", store, err)
		}
	}
}
