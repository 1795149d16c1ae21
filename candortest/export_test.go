package candortest

import (
	"io"
	"slices"

	"github.com/candor-mcp/candor/internal/mcpclient"
)

// Piped returns a transport to servers in this process. start returns the server's output and input.
func Piped(start func() (io.Reader, io.WriteCloser)) Transport {
	return Transport{open: func() (mcpclient.Conn, error) {
		out, in := start()
		return mcpclient.NewPipe(out, in, maxFrame), nil
	}}
}

// SchemaWrong and SchemaExample export the kit's reading of a schema to its tests.
func SchemaWrong(text string) (string, bool) { return readSchema([]byte(text)).wrong() }

func SchemaExample(text string) string { return example([]byte(text)) }

// Shown returns raw as a finding shows it.
func Shown(raw []byte) string { return show(raw) }

// Leaks returns the leak checks that would report text.
func Leaks(text string) []string {
	var found []string
	for name, leaks := range map[string]func(string) bool{"stack": stackTrace.MatchString, "type": typeName.MatchString, "path": showsPath} {
		if leaks(text) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}
