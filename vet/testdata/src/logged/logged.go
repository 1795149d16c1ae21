// Package logged holds errors that handlers log and forget.
package logged

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func logs(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	data, err := os.ReadFile("a")
	if err != nil { // want `logandcontinue: this error is logged, and the function continues as if nothing happened; return candor.From\(err\), or use the error \(docs/vet.md\)`
		log.Printf("reading: %v", err)
	}
	if err := os.Mkdir("b", 0o700); err != nil { // want `logandcontinue`
		slog.Error("mkdir", "error", err)
		slog.Default().Warn("going on")
	}
	if err = os.Chdir("c"); err != nil { // want `logandcontinue`
		fmt.Fprintln(os.Stderr, err)
	}
	err = os.Chdir("d")
	if err != nil { // want `logandcontinue`
		logf("chdir: %v", err)
	}
	_, err = os.Stat(string(data))
	return nil, err //candor:allow rawerror another rule
}

func logf(format string, args ...any) {}

// What follows is as it should be.

func fine(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	data, err := os.ReadFile("a")
	if err != nil {
		log.Printf("trying b: %v", err)
		data, err = os.ReadFile("b")
	}
	if err != nil {
		log.Print(err)
		return nil, err //candor:allow rawerror another rule
	}
	_, err = os.Stat("c")
	if err != nil {
		log.Print(err)
	}
	if err == nil {
		data = nil
	}
	for range data {
		if _, err := os.Stat("d"); err != nil {
			log.Print(err)
			continue
		}
	}
	if err := os.Chdir("e"); err != nil {
		log.Fatal(err)
	}
	if err := req.Session.NotifyProgress(ctx, nil); err != nil {
		log.Print(err)
	}
	defer func() {
		if err := os.Chdir("f"); err != nil {
			log.Print(err)
		}
	}()
	go func() {
		if err := os.Chdir("g"); err != nil {
			log.Print(err)
		}
	}()
	f, err := os.Open("h")
	if err != nil {
		log.Print("without h")
		f = os.Stdin
	}
	if err := f.Close(); err != nil {
		log.Print(err)
	}
	return nil, nil
}

// elsewhere is not a handler.
func elsewhere() error {
	if err := os.Chdir("a"); err != nil {
		log.Print(err)
	}
	return nil
}
