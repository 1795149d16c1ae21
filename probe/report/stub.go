package report

import (
	"io"

	"github.com/candor-mcp/candor/probe"
)

func writeText(io.Writer, *probe.Report, Options) error     { return nil }
func writeMarkdown(io.Writer, *probe.Report, Options) error { return nil }
func writeHTML(io.Writer, *probe.Report, Options) error     { return nil }
func writeJUnit(io.Writer, *probe.Report, Options) error    { return nil }
func writeSARIF(io.Writer, *probe.Report, Options) error    { return nil }
