package ledgercmd

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/cmd/internal/fleet/view"
	"github.com/candor-mcp/candor/internal/ledgerconfig"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// trustFlags are the flags about keys and checkpoints that are kept outside the folder or the store.
type trustFlags struct {
	checkpoints []string
	key         string
	operatorKey string
}

func (f *trustFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.checkpoints, "checkpoints", nil,
		"another file with checkpoints; may be repeated; of a store, the operator's file, by default in candor/fleet in the user's state folder")
	cmd.Flags().StringVar(&f.key, "key", "", "file with the public keys to trust, instead of those known; of a store, lines NODE KEY")
	cmd.Flags().StringVar(&f.operatorKey, "operator-key", "", "of a store: file with the operator's key; by default one is created in candor/fleet in the user's state folder")
}

// optionsOf returns the options with which a folder is verified. Its default witness copy is always used.
func (f *trustFlags) optionsOf(c *command, dir string) (o ledgerverify.Options, err error) {
	o = ledgerverify.Options{OwnWitnessCopies: ledgerconfig.WitnessCopies(dir, c.env.Getenv), WitnessCopies: f.checkpoints}
	if f.key != "" {
		o.Keys, err = readKeys(f.key)
	}
	return o, err
}

// files returns the file of checkpoints and the file of the operator's key for a store.
func (f *trustFlags) files(env *term.Env, at fleet.Location) (checkpoints, key string, err error) {
	if len(f.checkpoints) > 1 {
		return "", "", term.BadInput("name one", "--checkpoints: a store of many nodes has one file of checkpoints")
	}
	checkpoints, key = strings.Join(f.checkpoints, ""), f.operatorKey
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
	if f.key == "" {
		return nil, nil
	}
	lines, err := readKeys(f.key)
	if err != nil {
		return nil, err
	}
	keys := map[string][]string{}
	for _, line := range lines {
		node, key, _ := strings.Cut(line, " ")
		key = strings.TrimSpace(key)
		if _, err := note.NewVerifier(key); err != nil || !fleet.ValidNode(node) {
			return nil, term.BadInput("one line per key: the name of the node, a space, and the key that candor ledger key export prints on the node", "%s: %q is not a node and its key", f.key, term.Printable(line))
		}
		keys[node] = append(keys[node], key)
	}
	return keys, nil
}

// store opens a store, and reads what it is verified with. Nothing is created.
func (f *trustFlags) store(c *command, url string) (s trusted, err error) {
	keys, err := f.readNodeKeys()
	if err != nil {
		return s, err
	}
	if s.Store, s.at, err = c.env.OpenStore(c.cmd.Context(), url); err != nil {
		return s, err
	}
	file, known, err := f.known(c.env, s.at)
	if err != nil {
		return s, errors.Join(err, s.Close())
	}
	s.file, s.options = file, view.Options{Keys: keys, Known: known}
	return s, nil
}

// trusted is a store with the checkpoints of its operator.
type trusted struct {
	fleet.Store
	at      fleet.Location
	file    *view.Checkpoints
	options view.Options
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
