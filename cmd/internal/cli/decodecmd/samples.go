package decodecmd

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/dialect"
)

// wires has an encoded error by dialect name.
type wires map[string]json.RawMessage

// SampleTime and sampleRef are the same in all examples, so that the output is reproducible.
var SampleTime = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)

const sampleRef = "c-5f0c2a91d37e"

// Sample returns an error of a code as a server would return it.
func Sample(code candor.Code) *candor.Error {
	return candor.New(code, "", candor.WithRef(sampleRef), candor.WithTime(SampleTime))
}

func wiresOf(code candor.Code) wires {
	out := wires{}
	eachWire(code, func(d dialect.Dialect, carrier []byte) { out[d.Name()] = carrier })
	return out
}

func eachWire(code candor.Code, do func(dialect.Dialect, []byte)) {
	for _, name := range dialect.Names() {
		if d, err := dialect.Lookup(name); err == nil {
			do(d, d.Write(nil, Sample(code), dialect.Options{ID: []byte("1"), Response: true}))
		}
	}
}

// writeWires prints the error in each dialect below its name.
func writeWires(out io.Writer, p term.Colors, code candor.Code) {
	fmt.Fprintf(out, "\n  on the wire, as the response to request 1:\n")
	eachWire(code, func(d dialect.Dialect, carrier []byte) {
		fmt.Fprintf(out, "\n  %s\n  %s\n", p.Name(d.Name()), carrier)
	})
}
