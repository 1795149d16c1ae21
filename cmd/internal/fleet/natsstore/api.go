package natsstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/candor-mcp/candor"
)

// apiError is an error in an answer of JetStream.
type apiError struct {
	Status      int    `json:"code"`
	Code        int    `json:"err_code"`
	Description string `json:"description"`
}

// Error returns the description of the server.
func (e *apiError) Error() string { return fmt.Sprintf("%s (%d)", e.Description, e.Code) }

// Numbers of errors of JetStream that the client library has no names for.
const (
	codeWrongLast        = 10071 // the last message of the subject has another number
	codeWrongLastUnknown = 10164 // the same, while another message of the subject is being stored
	codeBatchDisabled    = 10174
	codeBatchTooMany     = 10210
	codeBatchIncomplete  = 10176 // its first message was dropped
	codeBatchTooLarge    = 10199
	codeNoMessage        = 10037
	codeNoStream         = 10059
	codeStoreFull        = 10077
	codeNotClustered     = 10074 // replicas need a cluster
	codeNoJetStream      = 10039 // the account has no JetStream
)

func (e *apiError) class() (code candor.Code, text string) {
	switch {
	case e.Code == codeNoStream:
		return candor.CodePreconditionFailed, "the stream does not exist (hint: an operator creates it with candor fleet setup)"
	case e.Code == codeStoreFull:
		return candor.CodeDiskFull, "the stream refuses more: " + e.Description
	case e.Status == 503 || e.Status == 429:
		return candor.CodeUnavailable, e.Error()
	default:
		return candor.CodeUpstreamError, e.Error()
	}
}

// hasCode reports whether an error is an answer of JetStream with one of the numbers.
func hasCode(err error, codes ...int) bool {
	var api *apiError
	if !errors.As(err, &api) {
		return false
	}
	for _, code := range codes {
		if api.Code == code {
			return true
		}
	}
	return false
}

// The prefixes of the subjects of the JetStream API: that of the account that has the stream, and that under which the account of a node
// imports it (see [GrantText]). An account without JetStream has the first one too, but only to say that it has no JetStream.
const (
	directPrefix   = "$JS.API."
	importedPrefix = "candor.api."
)

func (s *store) prefix() string {
	if s.imported.Load() {
		return importedPrefix
	}
	return directPrefix
}

// call sends a request of the JetStream API, and decodes the answer into result unless that is nil. The operation is the subject without
// its prefix.
func (s *store) call(ctx context.Context, operation string, request, result any) error {
	var body []byte
	if request != nil {
		var err error
		if body, err = json.Marshal(request); err != nil {
			return err
		}
	}
	for {
		imported := s.imported.Load()
		answer, err := s.request(ctx, &nats.Msg{Subject: s.prefix() + operation, Data: body})
		if err == nil {
			err = decode(answer.Data, result)
		}
		if !imported && hasCode(err, codeNoJetStream) {
			s.imported.Store(true)
			continue
		}
		if imported && errors.Is(err, nats.ErrNoResponders) {
			s.imported.Store(false) // the next call finds out again
		}
		return err
	}
}

// decode returns the error of an answer as an *apiError.
func decode(answer []byte, result any) error {
	var failure struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(answer, &failure); err != nil {
		return fmt.Errorf("the answer of the server is not valid: %w", err)
	}
	if failure.Error != nil {
		return failure.Error
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer, result)
}

// info returns the state of the stream as its leader sees it.
func (s *store) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	var info jetstream.StreamInfo
	if err := s.call(ctx, "STREAM.INFO."+s.params.stream, nil, &info); err != nil {
		return nil, err
	}
	return &info, nil
}

// message is one stored message.
type message struct {
	Subject  string `json:"subject"`
	Sequence uint64 `json:"seq"`
	Data     []byte `json:"data"`
}

// get asks the leader of the stream for one message. It returns nil if there is none. The direct API is not used: followers answer it,
// and they may be behind.
func (s *store) get(ctx context.Context, request map[string]any) (*message, error) {
	var result struct {
		Message *message `json:"message"`
	}
	err := s.call(ctx, "STREAM.MSG.GET."+s.params.stream, request, &result)
	if hasCode(err, codeNoMessage) {
		return nil, nil //nolint:nilnil // no message is an answer
	}
	return result.Message, err
}
