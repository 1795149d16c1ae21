package ledgercmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

func newKey(c command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Show, export or replace the key that signs checkpoints",
		Long: `Show, export or replace the key that signs checkpoints. The private key never leaves the folder. Export the public key and
give it to those who verify the ledger: a key that is stored beside the entries proves less than one stored elsewhere.`,
		Example: `  candor ledger key show
  candor ledger key export --out signer.pub
  candor ledger key rotate`,
		Args: term.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKeyShow(c), newKeyExport(c), newKeyRotate(c))
	return cmd
}

// keyInfo is the output of `candor ledger key show --json`.
type keyInfo struct {
	Current string   `json:"current"`
	Old     []string `json:"old"`
	Problem string   `json:"problem,omitempty"`
}

func newKeyShow(c command) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show [DIR]",
		Short:   "Show the public keys and check the permissions of the private one",
		Example: "  candor ledger key show\n  candor ledger key show --json",
		Args:    term.MaxArgs(1, "candor ledger key show DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, keys, err := c.keys(args)
			if err != nil {
				return err
			}
			problem := keyProblem(dir)
			err = c.showKeys(keyInfo{Current: keys[0], Old: append([]string{}, keys[1:]...), Problem: problem})
			if err != nil && problem != "" {
				c.env.Notify(c.cmd, problem, "chmod 600 "+filepath.Join(dir, "keys", "*.key")+", then candor ledger key rotate")
			}
			return err
		},
	}
	c.registerJSON(cmd, oneObject)
	return cmd
}

func (c *command) showKeys(info keyInfo) error {
	p := c.env.Colors()
	c.say("%s  %s\n", p.Bold("current"), term.Printable(info.Current))
	for _, old := range info.Old {
		c.say("%s      %s\n", p.Faint("old"), term.Printable(old))
	}
	return c.finish(info, info.Problem == "")
}

// keys returns the public keys of a folder, the current one first.
func (c *command) keys(args []string) (dir string, keys []string, err error) {
	if dir, err = c.folder(args); err != nil {
		return "", nil, err
	}
	keys, err = ledger.PublicKeys(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(keys) == 0 {
		return "", nil, term.BadInput("the key is created when the ledger is first written", "%s: no key", dir)
	}
	if err != nil {
		return "", nil, cannotRead(err)
	}
	return dir, keys, nil
}

// keyProblem returns a problem with the permissions of the private keys, or "".
func keyProblem(dir string) string {
	if runtime.GOOS == "windows" { // Windows does not use permission bits
		return ""
	}
	for _, name := range []string{"signer.key", "digest.key"} {
		info, err := os.Stat(filepath.Join(dir, "keys", name))
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			return fmt.Sprintf("%s: readable by others, mode %04o instead of 0600", filepath.Join("keys", name), info.Mode().Perm())
		}
	}
	return ""
}

func newKeyExport(c command) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "export [DIR]",
		Short:   "Write the public keys, for verification elsewhere",
		Long:    "Write the public keys, the current one first and then those it replaced, one per line, for --key.",
		Example: "  candor ledger key export --out signer.pub\n  candor ledger verify --key signer.pub",
		Args:    term.MaxArgs(1, "candor ledger key export DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			_, keys, err := c.keys(args)
			if err != nil {
				return err
			}
			return term.WriteFileOrOutput(c.env, out, func(w io.Writer) error {
				for _, key := range keys {
					if _, err := fmt.Fprintln(w, key); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to create; default standard output")
	return cmd
}

func newKeyRotate(c command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rotate [DIR]",
		Short: "Replace the signing key; the old public key stays",
		Long: `Replace the signing key. The old private key is deleted; the old public key stays in the folder, so that old
checkpoints still verify. Running writers use the old key until they are restarted. Export the public keys
again for those who verify the ledger.`,
		Example: "  candor ledger key rotate\n  candor ledger key export --out signer.pub",
		Args:    term.MaxArgs(1, "candor ledger key rotate DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, old, err := c.keys(args)
			if err != nil {
				return err
			}
			public, err := ledger.RotateKey(dir)
			if err != nil {
				return term.BadInput("check that the folder is writable and that no writer is starting", "%s", term.Cause(err))
			}
			return c.showKeys(keyInfo{Current: public, Old: old})
		},
	}
	c.registerJSON(cmd, oneObject)
	return cmd
}
