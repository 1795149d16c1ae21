package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sessionPrograms are the programs that run a desktop session and start applications, as the kernel names them (15 bytes).
var sessionPrograms = []string{
	"gnome-shell", "gnome-session-b", "plasmashell", "ksmserver", "xfce4-session", "xfce4-panel", "cinnamon", "mate-panel", "lxqt-session",
	"lxsession", "budgie-panel", "sway", "Hyprland", "i3", "river", "niri", "cosmic-session", "cosmic-panel",
}

// sessionPath returns the PATH of the user's desktop session, or "" if there is none. Processes of other users cannot be read.
func sessionPath() string {
	folders, _ := filepath.Glob("/proc/[0-9]*") // fails only for a bad pattern
	for _, dir := range folders {
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil || !slices.Contains(sessionPrograms, strings.TrimSpace(string(name))) {
			continue
		}
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil {
			continue
		}
		for pair := range bytes.SplitSeq(environ, []byte{0}) {
			if list, isPath := bytes.CutPrefix(pair, []byte("PATH=")); isPath {
				return string(list)
			}
		}
	}
	return ""
}
