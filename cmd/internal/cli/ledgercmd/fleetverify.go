package ledgercmd

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	"github.com/candor-mcp/candor/internal/plural"
)

// trustFlags are the flags about keys and checkpoints that an operator keeps outside the store.
type trustFlags struct {
	checkpoints string
	operatorKey string
	nodeKeys    string
}

// defaultWait is how long entries are waited for that a node names and the store does not have.
const defaultWait = term.AgeFlag(5 * time.Second)

func (f *trustFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.checkpoints, "checkpoints", "", "file of the operator's checkpoints; default candor/fleet in the user's state folder")
	cmd.Flags().StringVar(&f.operatorKey, "operator-key", "", "file with the operator's key; by default one is created in candor/fleet in the user's state folder")
	cmd.Flags().StringVar(&f.nodeKeys, "key", "", "file with public keys of nodes to trust, instead of those known: lines NODE KEY")
}

// files returns the file of checkpoints and the file of the operator's key for a store.
func (f *trustFlags) files(env *term.Env, at fleet.Location) (checkpoints, key string, err error) {
	checkpoints, key = f.checkpoints, f.operatorKey
	if checkpoints != "" && key != "" {
		return checkpoints, key, nil
	}
	state, err := ledgerconfig.StateFolder(env.Getenv)
	if err != nil {
		return "", "", term.BadInput("name the files: --checkpoints FILE --operator-key FILE", "no folder for the checkpoints: %s", err)
	}
	if key == "" {
		key = filepath.Join(state, "fleet", "operator.key")
	}
	if checkpoints == "" {
		sum := sha256.Sum256([]byte(identity(at)))
		checkpoints = filepath.Join(state, "fleet", at.URL.Scheme+"-"+hex.EncodeToString(sum[:8])+".checkpoints")
	}
	return checkpoints, key, nil
}

// identity returns the text that names the checkpoints of a store in any working directory. Two lists of hosts for one store
// give two names.
func identity(at fleet.Location) string {
	if path := at.URL.Opaque + at.URL.Path; at.URL.Host == "" && path != "" { // an engine that keeps its files in a folder
		if full, err := filepath.Abs(path); err == nil {
			return at.URL.Scheme + ":" + full
		}
	}
	return at.String()
}

// readNodeKeys reads the file of --key.
func (f *trustFlags) readNodeKeys() (map[string][]string, error) {
	if f.nodeKeys == "" {
		return nil, nil
	}
	lines, err := readKeys(f.nodeKeys)
	if err != nil {
		return nil, err
	}
	keys := map[string][]string{}
	for _, line := range lines {
		node, key, _ := strings.Cut(line, " ")
		key = strings.TrimSpace(key)
		if _, err := note.NewVerifier(key); err != nil || !fleet.ValidNode(node) {
			return nil, term.BadInput("one line per key: the name of the node, a space, and the key that candor ledger key export prints on the node", "%s: %q is not a node and its key", f.nodeKeys, term.Printable(line))
		}
		keys[node] = append(keys[node], key)
	}
	return keys, nil
}

// known reads the checkpoints of the operator, which need no key if there are none yet.
func (f *trustFlags) known(env *term.Env, at fleet.Location) (*view.Checkpoints, *view.State, error) {
	name, keyFile, err := f.files(env, at)
	if err != nil {
		return nil, nil, err
	}
	file := &view.Checkpoints{Name: name, Key: &view.OperatorKey{Name: keyFile}}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && f.operatorKey == "" {
		return file, nil, nil
	}
	if file.Key, err = view.ReadOperatorKey(keyFile); err != nil {
		return nil, nil, term.BadInput("name the operator's key with --operator-key FILE", "%s", err)
	}
	state, err := file.Read()
	if err != nil {
		return nil, nil, term.BadInput("name the key that signed it with --operator-key FILE, or another file with --checkpoints FILE", "%s", err)
	}
	return file, state, nil
}

// fleetVerifyCommand has the flags of `candor fleet verify`.
type fleetVerifyCommand struct {
	command
	trustFlags
	noCheckpoint bool // write none
	wait         term.AgeFlag
}

func newFleetVerify(shared command) *cobra.Command {
	c := &fleetVerifyCommand{command: shared, wait: defaultWait}
	cmd := &cobra.Command{
		Use:   "verify URL",
		Short: "Check that no entry of any node was changed, removed or added",
		Long: `Read every entry of every node and check that none was changed, removed, repeated, reordered or added. Each node is
verified by itself, as candor ledger verify does with a folder; what one node states about another does not count,
and counters of the store are not used. For each damaged chain the first bad entry is printed, with its node.

The result is compared with a checkpoint over all nodes that was kept outside the store. It reveals a node, a
chain or a whole store that is missing or was restored from an older copy. Unless the result is FAILED, a new checkpoint is
signed with the operator's key and added to the file. Keep the file and the key on another machine than the store.

The first time, the public key of each node is taken from its oldest chain; from then on the checkpoints name it. A
node that has another key later is reported, unless it was rotated with candor ledger key rotate. To check the
keys of the nodes yourself, or to accept a new one, name them with --key.

INCOMPLETE instead of FAILED means that a node names entries that the store does not have, and no checkpoint shows that
it ever had them: the node has not shipped them yet, or they were removed before a checkpoint covered them.

Exit codes: 0 OK; 1 FAILED or INCOMPLETE; 2 the check could not run.`,
		Example: `  candor fleet verify file:/srv/fleet
  candor-cluster fleet verify 'nats://nats-1:4222?node=READER&nkey=reader.nk' --checkpoints /mnt/worm/fleet
  candor fleet verify file:/srv/fleet --json --no-checkpoint`,
		Args: storeArg("verify"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args[0]) },
	}
	c.trustFlags.register(cmd)
	cmd.Flags().Var(&c.wait, "wait", "how long to wait for entries that a node names and has not shipped yet")
	cmd.Flags().BoolVar(&c.noCheckpoint, "no-checkpoint", false, "compare with the checkpoints, but write none")
	c.registerJSON(cmd, oneObject)
	return cmd
}

// verifyStore does what candor fleet verify does, for candor ledger verify.
func (c *verifyCommand) verifyStore(url string) error {
	if len(c.checkpoints) > 1 {
		return term.BadInput("name one", "--checkpoints: a store of many nodes has one file of checkpoints")
	}
	s := &fleetVerifyCommand{command: c.command, wait: defaultWait, trustFlags: trustFlags{nodeKeys: c.key}}
	s.checkpoints = strings.Join(c.checkpoints, "")
	return s.run(url)
}

// fleetReport is the output of `candor fleet verify --json`.
type fleetReport struct {
	view.Report
	Checkpoints string    `json:"checkpoints"`        // file
	Compared    time.Time `json:"compared,omitzero"`  // time of the newest checkpoint in it
	Written     bool      `json:"checkpoint_written"` // a new one was added
	Store       string    `json:"store"`              // URL without credentials
}

func (c *fleetVerifyCommand) run(url string) error {
	keys, err := c.readNodeKeys()
	if err != nil {
		return err
	}
	store, at, err := c.env.OpenStore(c.cmd.Context(), url)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // it was only read
	file, known, err := c.known(c.env, at)
	if err != nil {
		return err
	}
	report := fleetReport{Checkpoints: file.Name, Store: at.String()}
	options := view.Options{Keys: keys, Known: known, Wait: time.Duration(c.wait)}
	if known != nil {
		report.Compared = known.Time
	}
	show, clearLine := c.progress()
	if show != nil {
		options.Progress = func(p view.Progress) { show("%d of %d nodes, %d MiB", p.Done, p.Nodes, p.Bytes>>20) }
	}
	report.Report, err = view.Verify(c.cmd.Context(), store, options)
	clearLine()
	if err != nil {
		return term.StoreError(err)
	}
	if err := c.addCheckpoint(file, &report); err != nil {
		return err
	}
	if !c.json {
		c.print(&report)
	}
	return c.finish(report, report.OK)
}

// addCheckpoint adds a checkpoint to the file if nothing was changed in the store.
func (c *fleetVerifyCommand) addCheckpoint(file *view.Checkpoints, report *fleetReport) error {
	if !report.OK && !report.Incomplete() || c.noCheckpoint {
		return nil
	}
	state, err := view.StateOf(&report.Report, c.env.Now())
	if err != nil {
		return err
	}
	if file.Key.Public == "" {
		if file.Key, err = view.CreateOperatorKey(file.Key.Name); err != nil {
			return term.BadInput("name the operator's key with --operator-key FILE", "%s", err)
		}
	}
	if _, err := file.Append(c.cmd.Context(), state); err != nil {
		text, hint := term.SplitHint(err)
		if hint == "" {
			hint = "name a file that can be written with --checkpoints FILE, or use --no-checkpoint"
		}
		return term.BadInput(hint, "writing the checkpoint: %s", text)
	}
	report.Written = true
	return nil
}

func (c *fleetVerifyCommand) print(r *fleetReport) {
	p := c.env.Colors()
	for i := range r.Nodes {
		c.say("%s\n", nodeWords(&r.Nodes[i], p))
	}
	for _, d := range r.Damage {
		c.say("%s\n", damageLines(d, p))
	}
	of := "of " + plural.Of(len(r.Nodes), "node")
	if r.Incomplete() {
		c.say("%s: %s %s are as they should be; others are not in the store\n", p.Warn("INCOMPLETE"), plural.Count(r.Entries, "entry", "entries"), of)
	} else {
		c.writeResult(r.OK, r.Entries, of, len(r.Damage))
	}
	c.explain(r)
}

// explain prints what the result was compared with, and the next step.
func (c *fleetVerifyCommand) explain(r *fleetReport) {
	for _, d := range r.Damage {
		if d.Kind == "unknown-key" {
			c.env.Notify(c.cmd, "a node is known by another key", "rotate keys with candor ledger key rotate; to accept another key, list all keys of the node with --key FILE")
			break
		}
	}
	if slices.ContainsFunc(r.Damage, func(d view.Damage) bool { return d.Unshipped }) {
		c.env.Notify(c.cmd, "the store does not have entries that a node names: the node has not shipped them yet, or they were removed soon after",
			"on the node: candor fleet ship --once DIR URL; then verify again")
	}
	if r.Compared.IsZero() {
		c.env.Notify(c.cmd, "there was no checkpoint to compare with: an older copy of the store, and nodes that are missing, cannot be detected yet",
			"keep "+term.Printable(r.Checkpoints)+" outside the store, and verify again later")
		return
	}
	c.say("compared with the checkpoints up to %s in %s\n", LocalTime(r.Compared), term.Printable(r.Checkpoints))
}

// nodeWords describes a node in one line.
func nodeWords(n *view.Node, p term.Colors) string {
	words := []string{plural.Count(n.Entries, "entry", "entries"), plural.Of(len(n.Chains), "chain")}
	open, pruned := 0, uint64(0)
	for i := range n.Chains {
		if !n.Chains[i].Closed && n.Chains[i].Recovered == "" && n.Chains[i].Damage == nil {
			open++
		}
		pruned += n.Chains[i].Pruned
	}
	if open > 0 {
		words = append(words, fmt.Sprintf("%d not closed", open))
	}
	if pruned > 0 {
		words = append(words, fmt.Sprintf("%d pruned before", pruned))
	}
	if n.New {
		words = append(words, "its key is new here")
	}
	if !n.OK {
		words = append(words, "damaged")
	}
	return fmt.Sprintf("node %s: %s", p.Name(term.Printable(n.Node)), strings.Join(words, ", "))
}
