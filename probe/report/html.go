package report

import (
	"io"

	"github.com/candor-mcp/candor/probe"
)

func writeHTML(io.Writer, *probe.Report, Options) error { return nil }
