package term

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// releaseVersion is the version of a released executable; the linker sets it. Other builds have the version that Go recorded.
var releaseVersion string

// BuildInfo is the output of `candor version --json`.
type BuildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// ReadBuildInfo returns the build information of this executable.
func ReadBuildInfo() BuildInfo {
	info := BuildInfo{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	if build.Main.Version != "" {
		info.Version = build.Main.Version
	}
	if releaseVersion != "" {
		info.Version = releaseVersion
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Revision = s.Value
		case "vcs.time":
			info.Time = s.Value
		case "vcs.modified":
			info.Modified = s.Value == "true"
		}
	}
	return info
}

// String returns the information as one line for people.
func (i BuildInfo) String() string {
	parts := []string{ProgramName, i.Version}
	if i.Revision != "" {
		revision := i.Revision[:min(12, len(i.Revision))]
		if i.Modified {
			revision += "+changes"
		}
		parts = append(parts, revision)
	}
	return strings.Join(append(parts, i.Go, i.OS+"/"+i.Arch), " ")
}
