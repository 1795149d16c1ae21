package natsstore

import (
	"strings"
)

// GrantText returns blocks of a nats-server configuration: the account of the stream, with an operator and a reader, and that of a node.
//
// Each node has an account of its own and imports the subjects of its chains. Permissions of a user in the account of the stream would
// not be enough: a server sends its answer to any address that a request names, and does so with its own rights. A node could have
// the confirmation of a message to itself delivered to the chain of another node, where it would be stored. The address of an answer
// that crosses accounts is valid in the account of the node only.
func GrantText(stream, node string) string {
	return strings.NewReplacer("{stream}", stream, "{node}", node).Replace(`# For the configuration of every nats-server of the cluster.
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
    ]
  }

  # The account of node {node}. Its name must be the name of the node.
  "{node}" {
    users: [ { nkey: "PUBLIC-KEY-OF-NODE" } ]
    imports: [
      { service: { account: LEDGER, subject: "candor.ledger.{node}.*" } }
      { service: { account: LEDGER, subject: "$JS.API.STREAM.INFO.{stream}" }, to: "candor.api.STREAM.INFO.{stream}" }
      { service: { account: LEDGER, subject: "$JS.API.STREAM.MSG.GET.{stream}" }, to: "candor.api.STREAM.MSG.GET.{stream}" }
    ]
  }
}

# The node appends to its own chains, and reads (also lines of other nodes: the subject of the request does not name the chain).
# It cannot write to other chains, and has no right to remove, purge, restore or change anything.
# Its seed is in a file with mode 0600 on the node: ?nkey=FILE
`)
}
