package realservers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/audience"
	"github.com/candor-mcp/candor/wire"
)

// Answer is the answer to one request.
type Answer struct {
	raw     []byte
	message wire.Message
}

// Failed reports whether the answer is an error or a result with isError.
func (a Answer) Failed() bool {
	if a.message.Kind() == wire.KindError {
		return true
	}
	marked, ok := a.message.ResultMember("isError")
	yes, isBool := marked.Bool()
	return ok && isBool && yes
}

// Envelope returns the canonical error in the answer.
func (a Answer) Envelope() (*candor.Error, error) {
	v, ok := dialect.Embedded(a.message.Value())
	if !ok {
		return nil, errors.New("no envelope")
	}
	return dialect.ReadCandor(v)
}

// bareURI reports whether the answer is an error with only the URI that was not found as its data. Clients recognize it by
// that exact shape, so the gateway does not change it.
func (a Answer) bareURI() bool {
	data := a.message.Error().Path("data")
	_, ok := data.Get("uri")
	return ok && data.Len() == 1
}

// words are what a failure says: the blocks of a result, or the code and message of an error.
type words struct {
	Result struct{ Content []map[string]any }
	Error  struct {
		Code    json.Number
		Message string
	}
}

// keeps reports whether a failure behind the gateway has all words of the server: after its readable block, or in it.
func (a Answer) keeps(own Answer, e *candor.Error) (bool, error) {
	var before, after words
	if err := errors.Join(json.Unmarshal(own.raw, &before), json.Unmarshal(a.raw, &after)); err != nil {
		return false, err
	}
	block := after.Error.Message
	if said := before.Error.Message; said != "" {
		return before.Error.Code == after.Error.Code && (strings.HasSuffix(block, strings.TrimSpace(said)) || audience.Repeats(block, e.Message(), said)), nil
	}
	if len(after.Result.Content) == 0 {
		return false, nil
	}
	block, _ = after.Result.Content[0]["text"].(string)
	rest := after.Result.Content[1:]
	for _, said := range before.Result.Content {
		text, isText := said["text"].(string)
		switch {
		case len(rest) > 0 && reflect.DeepEqual(said, rest[0]):
			rest = rest[1:]
		case !isText || !audience.Repeats(block, e.Message(), text):
			return false, nil
		}
	}
	return len(rest) == 0, nil
}

// readAnswers reads the answers in a copy of a server's output, by id.
func readAnswers(name string) (map[string]Answer, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	said := map[string]Answer{}
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if a := answerOf(line); a.message.Kind() == wire.KindResult || a.message.Kind() == wire.KindError {
			said[string(a.message.ID())] = a
		}
	}
	return said, nil
}

func answerOf(raw []byte) Answer { return Answer{raw: raw, message: wire.Parse(raw, wire.Limits{})} }

// difference shows the first difference between two answers.
func difference(a, b []byte) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	around := func(text []byte) string {
		return strings.ToValidUTF8(string(text[max(0, at-20):min(len(text), at+40)]), "?")
	}
	return fmt.Sprintf("at byte %d %q became %q", at, around(a), around(b))
}
