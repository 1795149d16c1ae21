package candor_test

import (
	"log/slog"
	"os"

	"github.com/candor-mcp/candor"
)

// In a log an error is a group of attributes, so that its code can be searched for.
func ExampleError_LogValue() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	err := candor.ToolFailure(candor.CodeDiskFull, "write_file", "", candor.WithRef("r-7"))

	log.Error("tool failed", slog.Any("err", err))
	// Output:
	// level=ERROR msg="tool failed" err.code=DISK_FULL err.class=unavailable err.message="There is no space left to store the data." err.retry="retryable_after_ms 5000" err.domain=candor err.tool=write_file err.ref=r-7
}
