package natsstore

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/cluster/internal/natsshare"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// GrantText returns blocks of a nats-server configuration: the account of the stream, with an operator and a reader, and that of a node.
//
// Each node has an account of its own and imports the subjects of its chains. Permissions of a user in the account of the stream would
// not be enough: a server sends its answer to any address that a request names, and does so with its own rights. A node could have
// the confirmation of a message to itself delivered to the chain of another node, where it would be stored. The address of an answer
// that crosses accounts is valid in the account of the node only.
func GrantText(stream, node string) string {
	const each = "\n      "
	return strings.NewReplacer("{stream}", stream, "{node}", node,
		"{share exports}", strings.Join(natsshare.Exports(natsshare.DefaultBucket), each),
		"{share imports}", strings.Join(natsshare.Imports("LEDGER", natsshare.DefaultBucket, node), each)).Replace(`# For the configuration of every nats-server of the cluster.
#
# Once: the account of the stream. Its operator has all rights in it; readers verify and follow.
accounts {
  LEDGER {
    jetstream: enabled
    users: [
      { nkey: "PUBLIC-KEY-OF-OPERATOR" }
      { nkey: "PUBLIC-KEY-OF-READER", permissions: {
          publish: [
            "$JS.API.STREAM.INFO.{stream}", "$JS.API.STREAM.MSG.GET.{stream}", "$JS.API.CONSUMER.CREATE.{stream}.>",
            "$JS.API.CONSUMER.DELETE.{stream}.*", "$JS.API.CONSUMER.MSG.NEXT.{stream}.*"
          ]
          subscribe: "_INBOX_READER.>"     # open the store with ?node=READER
      } }
    ]
    exports: [
      { service: "candor.ledger.*.*", account_token_position: 3 }   # a node can import the subjects with its own name only
      { service: "$JS.API.STREAM.INFO.{stream}" }
      { service: "$JS.API.STREAM.MSG.GET.{stream}" }
      # for share: in the configuration of a gateway
      {share exports}
    ]
  }

  # The account of node {node}. Its name must be the name of the node.
  "{node}" {
    users: [ { nkey: "PUBLIC-KEY-OF-NODE" } ]
    imports: [
      { service: { account: LEDGER, subject: "candor.ledger.{node}.*" } }
      { service: { account: LEDGER, subject: "$JS.API.STREAM.INFO.{stream}" }, to: "candor.api.STREAM.INFO.{stream}" }
      { service: { account: LEDGER, subject: "$JS.API.STREAM.MSG.GET.{stream}" }, to: "candor.api.STREAM.MSG.GET.{stream}" }
      # for share: in the configuration of a gateway
      {share imports}
    ]
  }
}

# The node appends to its own chains, and reads (also lines of other nodes: the subject of the request does not name the chain).
# It cannot write to other chains, and has no right to remove, purge, restore or change anything.
# Its seed is in a file with mode 0600 on the node: ?nkey=FILE
`)
}

// attempt is one thing to try. None of them can change anything, whatever the rights are.
type attempt struct {
	what    string
	want    bool
	subject string
	body    string
	expect  bool // with a condition that never holds
	refused int  // number of an error that means that the stream itself does not allow it
}

// impossible is a number that no message will have.
const impossible = "4611686018427387904"

func (s *store) attempts(node string) []attempt {
	other := "rights-check"
	if node == other {
		other = "rights-check-other"
	}
	api := func(what, operation, body string) attempt {
		return attempt{what: what, subject: s.prefix() + "STREAM." + operation + "." + s.params.stream, body: body}
	}
	own := api("read its own chains", "MSG.GET", `{"last_by_subj":"`+subjectPrefix+node+`.rights-check"}`)
	state := api("read the state of the stream", "INFO", "")
	own.want, state.want = true, true
	remove := api("delete a message", "MSG.DELETE", `{"seq":`+impossible+`}`)
	remove.refused = codeDeleteDenied
	return []attempt{
		{what: "append to its own chains", want: true, subject: subjectPrefix + node + ".rights-check", expect: true},
		own, state,
		{what: "append to a chain of another node", subject: subjectPrefix + other + ".rights-check", expect: true},
		remove,
		api("purge messages", "PURGE", `{"filter":"`+subjectPrefix+other+`.rights-check","seq":1}`),
		// The servers refuse these requests because of their content, if the rights do not refuse them before.
		api("delete the stream", "DELETE", "not empty"),
		api("change the stream", "UPDATE", "not JSON"),
		api("restore the stream from a copy", "RESTORE", "not JSON"),
		api("remove a replica of the stream", "PEER.REMOVE", "not JSON"),
		{what: "create a consumer", subject: s.prefix() + "CONSUMER.CREATE." + s.params.stream + ".rights-check." + allSubjects, body: "not JSON"},
	}
}

// CheckRights tries everything with requests that cannot take effect: a message with a condition that never holds, a purge of nothing,
// requests that are not valid. What is answered by JetStream would have been allowed.
func (s *store) CheckRights(ctx context.Context, node string) ([]fleet.RightCheck, error) {
	if !fleet.ValidNode(node) {
		return nil, candor.New(candor.CodeInvalidArguments, "not the name of a node")
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	if _, err := s.info(ctx); err != nil && !errors.Is(err, errDenied) && !errors.Is(err, nats.ErrNoResponders) {
		return nil, s.failed("reading the stream", err)
	}
	var checks []fleet.RightCheck
	shared := false // whether the node is a user in the account of the stream
	for _, a := range s.attempts(node) {
		allowed, denied, err := s.try(ctx, a)
		if err != nil {
			return nil, s.failed("trying to "+a.what, err)
		}
		check := fleet.RightCheck{What: a.what, Allowed: allowed, Want: a.want}
		if denied {
			shared, check.Detail = true, "refused by the permissions of the user"
		}
		checks = append(checks, check)
		if a.want && !allowed && a.expect {
			return checks, nil // without a stream that answers, nothing else can be told apart from a refusal
		}
		shared = shared || (allowed && !a.want)
	}
	return append(checks, fleet.RightCheck{
		What: "have answers delivered to a chain of another node", Allowed: shared,
		Detail: "a node is safe from others only if each has an account of its own; candor fleet join prints it",
	}), nil
}

// try reports whether JetStream has answered a request, and whether the permissions of the user refused it. Without an answer the subject
// does not exist in the account of the user.
func (s *store) try(ctx context.Context, a attempt) (allowed, denied bool, err error) {
	m := nats.NewMsg(a.subject)
	m.Data = []byte(a.body)
	if a.expect {
		m.Data = []byte("rights check")
		m.Header.Set("Nats-Expected-Last-Subject-Sequence", impossible)
	}
	answer, err := s.request(ctx, m)
	switch {
	case errors.Is(err, errDenied):
		return false, true, nil
	case errors.Is(err, nats.ErrNoResponders):
		return false, false, nil
	case err != nil:
		return false, false, err
	}
	err = decode(answer.Data, nil)
	if hasCode(err, codeNoJetStream) {
		return false, false, nil
	}
	return a.refused == 0 || !hasCode(err, a.refused), false, nil
}
