package candor

// Party is who a failure comes from.
type Party string

// The parties, from the inside out.
const (
	PartyTool      Party = "tool"      // the tool ran and says it failed
	PartyServer    Party = "server"    // the MCP server refused or broke around the tool
	PartyGateway   Party = "gateway"   // the proxy in between made it
	PartyTransport Party = "transport" // the connection failed
	PartyClient    Party = "client"    // the caller's own side
)

// Valid reports whether p is one of the five parties.
func (p Party) Valid() bool {
	switch p {
	case PartyTool, PartyServer, PartyGateway, PartyTransport, PartyClient:
		return true
	default:
		return false
	}
}

// Origin keeps provenance: who says so, and whether the code was said by that party or inferred
// by Candor from its words. Retry advice that was inferred deserves less trust than one that was said.
type Origin struct {
	By       Party
	Inferred bool
}
