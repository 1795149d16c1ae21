package ledgerconfig

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestStateFolderIsWhereTheSystemKeepsState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		system string
		env    map[string]string
		want   string // "" for an error
	}{
		{"linux", map[string]string{"HOME": "/home/me"}, "/home/me/.local/state/candor"},
		{"linux", map[string]string{"HOME": "/home/me", "XDG_STATE_HOME": "/state"}, "/state/candor"},
		{"linux", map[string]string{"LOCALAPPDATA": "/local"}, ""},
		{"darwin", map[string]string{"HOME": "/Users/me"}, "/Users/me/Library/Application Support/candor"},
		{"darwin", map[string]string{"HOME": "/Users/me", "XDG_STATE_HOME": "/state"}, "/state/candor"},
		{"darwin", nil, ""},
		{"windows", map[string]string{"HOME": "/me", "USERPROFILE": "/me", "LOCALAPPDATA": "/local"}, "/local/candor"},
		{"windows", map[string]string{"USERPROFILE": "/me"}, "/me/AppData/Local/candor"},
		{"windows", map[string]string{"XDG_STATE_HOME": "/state", "LOCALAPPDATA": "/local"}, "/state/candor"},
		{"windows", map[string]string{"HOME": "/me"}, ""},
	} {
		got, err := stateFolder(c.system, func(name string) string { return c.env[name] })
		if filepath.ToSlash(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %v: got %q, %v, want %q", c.system, c.env, got, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "XDG_STATE_HOME") {
			t.Errorf("the error %q names no variable", err)
		}
	}
}
