package schema_test

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
)

// archive is a file in the txtar format: a comment, then files that each start with a line "-- name --".
type archive struct {
	Comment []byte
	Files   []archiveFile
}

type archiveFile struct {
	Name string
	Data []byte
}

// readArchive reads an archive.
func readArchive(path string) (*archive, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	a := &archive{}
	data := &a.Comment
	for line := range bytes.Lines(text) {
		name, isMarker := strings.CutPrefix(strings.TrimSpace(string(line)), "-- ")
		name, isMarker2 := strings.CutSuffix(name, " --")
		if isMarker && isMarker2 {
			a.Files = append(a.Files, archiveFile{Name: name})
			data = &a.Files[len(a.Files)-1].Data
			continue
		}
		*data = append(*data, line...)
	}
	return a, nil
}

func (a *archive) format() []byte {
	out := bytes.Clone(a.Comment)
	for _, f := range a.Files {
		out = append(fmt.Appendf(out, "-- %s --\n", f.Name), f.Data...)
	}
	return out
}

// difference describes how two values differ. It returns "" if they are equal.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("\n-want %+v\n+got  %+v", want, got)
}
