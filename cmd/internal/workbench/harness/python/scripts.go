package python

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	files "github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	pythoncode "github.com/candor-mcp/candor/codes/python"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

const maxScript = 256 << 10 // bytes

var scriptName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)

type scriptParams struct {
	Name string `json:"name"`
	given
}

// script runs a script of the directory. The policy also applies to scripts, because another domain may be able to
// write to that directory.
func (r *runner) script(ctx context.Context, in scriptParams) (*Result, error) {
	s, err := r.readScript(in.Name)
	if err != nil {
		return nil, err
	}
	return r.execute(ctx, s, in.given)
}

func (r *runner) readScript(name string) (source, error) {
	if r.config.Scripts == "" {
		return source{}, domain.Fail(pythoncode.ScriptNotFound, "no folder of scripts is configured: set MCP_PYTHON_SCRIPTS", nil)
	}
	missing := func(cause error) error {
		return domain.Fail(pythoncode.ScriptNotFound, fmt.Sprintf("no script %q", shorten(name)), cause)
	}
	if !scriptName.MatchString(name) {
		return source{}, missing(nil)
	}
	if !strings.HasSuffix(name, ".py") {
		name += ".py"
	}
	scripts, err := files.Open(r.config.Scripts, r.config.Private...)
	if err != nil {
		return source{}, missing(err)
	}
	defer func() { _ = scripts.Close() }()
	file, _, err := scripts.OpenFile(name)
	if err != nil {
		return source{}, missing(err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxScript+1))
	if err != nil {
		return source{}, missing(err)
	}
	if len(text) > maxScript {
		return source{}, tooLarge("script %s is larger than %d bytes", name, maxScript)
	}
	return source{name: name, text: string(text)}, nil
}

type scriptsResult struct {
	Scripts []string `json:"scripts"`
}

func (r *runner) scripts(context.Context, struct{}) (*scriptsResult, error) {
	result := &scriptsResult{Scripts: []string{}}
	if r.config.Scripts == "" {
		return result, nil
	}
	entries, err := os.ReadDir(r.config.Scripts)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".py") && scriptName.MatchString(e.Name()) {
			result.Scripts = append(result.Scripts, e.Name())
		}
	}
	return result, nil
}
