package readme

import (
	"fmt"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/testing/corpus"
)

// ErrNoRecordings says that there are no recorded servers beside the checkout.
var ErrNoRecordings = corpus.ErrAbsent

// Context is the number of bytes that a failure adds to a model's context: the text block that [contract.Normalise] puts in front of
// the server's own blocks. The member _meta is not counted, because clients do not show it to models.
type Context struct {
	Servers     int `json:"servers"`
	Failures    int `json:"failures"`
	MedianBytes int `json:"medianBytes"`
	P90Bytes    int `json:"p90Bytes"`
}

// MeasureContext reads the recorded tool calls that servers marked as failed.
func MeasureContext() (Context, error) {
	records, err := corpus.Load(corpus.Failures)
	if err != nil {
		return Context{}, err
	}
	servers := make(map[string]bool)
	var sizes []int
	for i := range records {
		r := &records[i]
		if !r.Flagged() || r.Pattern == "protocol_error" || len(r.Request) == 0 {
			continue
		}
		size, err := addedText(r)
		if err != nil {
			return Context{}, fmt.Errorf("record %d, %s %s: %w", i+1, r.Server, r.Tool, err)
		}
		if size > 0 {
			servers[r.Server] = true
			sizes = append(sizes, size)
		}
	}
	slices.Sort(sizes)
	return Context{Servers: len(servers), Failures: len(sizes), MedianBytes: sizes[len(sizes)/2], P90Bytes: sizes[len(sizes)*9/10]}, nil
}

// addedText returns the length of the text block that a failure gains, or 0 if the answer is not a failed result.
func addedText(r *corpus.Record) (int, error) {
	x, err := contract.ParseExchange(fmt.Appendf(nil, `{"request":%s,"response":%s}`, r.Request, r.Response))
	if err != nil {
		return 0, err
	}
	x.Ref = "38a826f0338e41a6b92d" // as long as every ref
	read := contract.Read(x)
	if read.Error == nil {
		return 0, nil
	}
	line, err := contract.Normalise(nil, &x.Response, read.Error, candor.JSONOptions{})
	if err != nil {
		return 0, err
	}
	texts, err := textBlocks(line)
	if err != nil || len(texts) == 0 {
		return 0, err
	}
	return len(texts[0]), nil
}
