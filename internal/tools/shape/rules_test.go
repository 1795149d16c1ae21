package shape

// packageRule says what the packages below a folder may import, and why.
type packageRule struct {
	Dir     string   // folder from the root; "." is the root package
	Own     []string // folders of other rules that it may import; internal and spec are open to all, see [sourceTree.imports]
	Outside bool     // may import modules other than the standard library
	SDK     bool     // may import an MCP SDK
	Leaf    bool     // a module of its own, which imports no internal package of the root
	Why     string
}

// packageRules gives the direction of imports in the whole repository:
//
//	cli → gateway, probe, console, workbench → contract → dialect → wire, candor
//
// A package that is planned has its rule already, so that its first commit obeys it.
var packageRules = []packageRule{
	{Dir: ".",
		Why: "every package imports the root, so it must cost nothing: standard library only, no I/O"},
	{Dir: "codes", Own: []string{"."},
		Why: "generated names for codes of the root's catalogue"},
	{Dir: "wire",
		Why: "wire knows bytes and ids, not what an error means; it must be usable without the rest"},
	{Dir: "dialect", Own: []string{".", "wire"},
		Why: "a dialect writes and reads one shape; what a shape means is decided in contract"},
	{Dir: "contract", Own: []string{".", "wire", "dialect"},
		Why: "the rules are functions of their input, so that gateway, boundary and probe agree and tests need no clock"},
	{Dir: "boundary", Own: []string{".", "wire", "dialect", "contract"}, Outside: true, SDK: true,
		Why: "boundary runs inside a user's server: it may need an SDK, but no disk and no proxy"},
	{Dir: "client", Own: []string{".", "wire", "dialect", "contract"}, Outside: true, SDK: true,
		Why: "a client of any server needs an SDK to read its results, and nothing of a server"},
	{Dir: "ledger", Own: []string{"."}, Outside: true,
		Why: "the ledger stores bytes, not messages: its proofs must not depend on a version of MCP"},
	{Dir: "meter", Own: []string{"."}, Outside: true,
		Why: "labels come from the closed sets of the root; anything else could grow without bound"},
	{Dir: "adapters/mcpgo", Own: []string{".", "wire", "dialect", "boundary"}, Outside: true, SDK: true, Leaf: true,
		Why: "a module that a user raises alone: it imports public packages only"},
	{Dir: "adapters", Own: []string{".", "meter"}, Outside: true, Leaf: true,
		Why: "a module that a user raises alone: it imports public packages only"},
	{Dir: "serve", Own: []string{".", "dialect", "boundary", "ledger", "meter"}, Outside: true, SDK: true,
		Why: "serve connects boundary, ledger and meter for a user's server, as cli does for the binary"},
	{Dir: "cmd/internal/gateway", Own: []string{".", "wire", "dialect", "contract"}, Outside: true,
		Why: "the gateway uses small interfaces and cli connects the ledger and the meter; it forwards bytes, so it needs no SDK"},
	{Dir: "cmd/internal/probe", Own: []string{".", "wire", "dialect", "contract"}, Outside: true,
		Why: "probe judges by the same rules the gateway applies, and must not share the gateway's mistakes"},
	{Dir: "cmd/internal/console", Own: []string{".", "wire", "dialect", "contract", "ledger", "meter", "cmd/internal/fleet"}, Outside: true,
		Why: "the console reads what was recorded and counted, by one node or by many; it never touches a live call"},
	{Dir: "cmd/internal/workbench", Own: []string{".", "wire", "dialect", "contract", "boundary", "client", "serve", "ledger", "meter", "adapters"}, Outside: true, SDK: true,
		Why: "the reference servers are users of the toolkit, and of nothing above it"},
	{Dir: "candortest", Own: []string{".", "wire", "dialect", "contract"}, Outside: true,
		Why: "users' servers run this kit: it must not force an SDK on them"},
	{Dir: "vet", Outside: true, Leaf: true,
		Why: "the analyser reads users' source; it knows our names as text and must not add our code or an SDK to their build"},
	{Dir: "spec", Why: "the contract is data for every language"},
	{Dir: "examples", Own: []string{"*"}, Outside: true, SDK: true,
		Why: "examples show the pieces together"},
	{Dir: "cmd/internal/testing", Own: []string{"*"}, Outside: true, SDK: true,
		Why: "servers and clients that only tests start"},
	{Dir: "cmd/internal/cli", Own: []string{"*", "cmd/candor"}, Outside: true,
		Why: "the commands connect the pieces; they reach an SDK only through boundary or workbench"},
	{Dir: "cmd/candor", Own: []string{"*", "cmd/internal/cli"}, Outside: true,
		Why: "main starts the commands, and does nothing else"},
	{Dir: "cmd/internal/fleet", Own: []string{".", "ledger"}, Outside: true,
		Why: "a fleet's record is bytes of ledgers: it knows no message"},
	{Dir: "cmd/candor-cluster", Own: []string{"*", "cmd/internal/cli"}, Outside: true,
		Why: "the second executable adds engines to the commands; a test checks that candor links none"},
	{Dir: "cmd/internal", Own: []string{"*"}, Outside: true,
		Why: "a package shared by parts of the program obeys the rules of every package that imports it"},
	{Dir: "internal/tools", Own: []string{"*"}, Outside: true, SDK: true,
		Why: "the checks of this repository; no package of a user imports them"},
	{Dir: "internal/testing", Own: []string{"*"}, Outside: true, SDK: true,
		Why: "helpers that only tests import"},
	{Dir: "internal", Own: []string{"*"}, Outside: true,
		Why: "an internal package obeys the rules of every package that imports it; none may import an SDK"},
}

// sdks are the modules that count as an MCP SDK.
var sdks = []string{
	"github.com/modelcontextprotocol/go-sdk",
	"github.com/mark3labs/mcp-go",
	"github.com/metoro-io/mcp-golang",
}
