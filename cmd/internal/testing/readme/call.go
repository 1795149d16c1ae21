package readme

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
)

// session is an MCP connection to a server that this package has started.
type session struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	id    int
}

// openSession starts a server, initializes it and lists its tools, as clients do.
func openSession(ctx context.Context, command []string) (*session, error) {
	s := &session{cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in, s.lines = in, bufio.NewScanner(out)
	s.lines.Buffer(nil, 1<<20)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err = s.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"readme","version":"1"}}`); err == nil {
		if _, err = io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err == nil {
			_, err = s.request("tools/list", `{}`)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// close ends the server. The demo's server ends with its input.
func (s *session) close() error { return errors.Join(s.in.Close(), s.cmd.Wait()) }

// request sends a request and returns the line that answers it.
func (s *session) request(method, params string) ([]byte, error) {
	s.id++
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.id, method, params); err != nil {
		return nil, err
	}
	for s.lines.Scan() {
		var answer struct{ ID int }
		if json.Unmarshal(s.lines.Bytes(), &answer) == nil && answer.ID == s.id {
			return s.lines.Bytes(), nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s: the server has not answered", method), s.lines.Err())
}

func (s *session) call(tool, arguments string) ([]byte, error) {
	return s.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// ref is the reference of a failure, which differs in every run. The page has a fixed one.
var ref = regexp.MustCompile(`(?m)^Ref: [0-9a-f]{20}$`)

const fixedRef = "Ref: 38a826f0338e41a6b92d"

// callText calls a tool and returns the text blocks of the answer, which is what a model reads.
func callText(ctx context.Context, command []string, tool, arguments string) (text string, err error) {
	s, err := openSession(ctx, command)
	if err != nil {
		return "", fmt.Errorf("starting the server: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	line, err := s.call(tool, arguments)
	if err != nil {
		return "", err
	}
	texts, err := textBlocks(line)
	if err != nil {
		return "", err
	}
	return ref.ReplaceAllLiteralString(strings.Join(texts, "\n"), fixedRef) + "\n", nil
}

func textBlocks(line []byte) ([]string, error) {
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	var texts []string
	for _, block := range answer.Result.Content {
		texts = append(texts, block.Text)
	}
	return texts, nil
}
