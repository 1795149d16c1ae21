// Package filestore keeps the record of a fleet in a folder, which many processes of one machine, or of machines that share a file system
// with working locks, may write.
//
// DIR/NODE is a ledger folder as spec/ledger.md describes it, without private keys: the same segments, byte for byte. So all commands that
// read a ledger read a node's copy too.
package filestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/oserror"
)

// Scheme is the URL scheme of the engine.
const Scheme = "file"

// Engine opens stores in folders.
type Engine struct{}

var _ fleet.Engine = Engine{}

// Open returns the store in the folder that the URL names: file:DIR, or file:///DIR.
func (Engine) Open(_ context.Context, at fleet.Location, _ fleet.OpenOptions) (fleet.Store, error) {
	dir, err := Folder(at.URL)
	if err != nil {
		return nil, candor.New(candor.CodeInvalidArguments, err.Error())
	}
	return Open(dir), nil
}

// Folder returns the folder that a URL names.
func Folder(u *url.URL) (string, error) {
	switch {
	case u.RawQuery != "":
		return "", fmt.Errorf("a folder has no parameter %q", strings.Join(slices.Sorted(mapKeys(u.Query())), ", "))
	case u.Host != "" && u.Host != "localhost":
		return "", fmt.Errorf("file://%s: a folder is on this machine (hint: file:DIR, or file:///DIR)", u.Host)
	case u.Opaque != "":
		return url.PathUnescape(u.Opaque)
	case u.Path == "":
		return "", errors.New("file: has no folder (hint: file:DIR)")
	case runtime.GOOS == "windows":
		return strings.TrimPrefix(u.Path, "/"), nil
	}
	return u.Path, nil
}

func mapKeys(values url.Values) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range values {
			if !yield(name) {
				return
			}
		}
	}
}

// Store is a store in a folder.
type Store struct {
	dir  string
	done chan struct{} // closed by Close

	mu      sync.Mutex
	root    *os.Root // nil until the folder is used
	chains  map[fleet.Chain]*chainState
	changed chan struct{} // closed by the next Append of this process
	closed  bool
}

var _ fleet.Store = (*Store)(nil)

// Open returns the store in a folder. The folder is created by the first Append, or by Setup.
func Open(dir string) *Store {
	return &Store{dir: dir, done: make(chan struct{}), chains: map[fleet.Chain]*chainState{}, changed: make(chan struct{})}
}

var errClosed = errors.New("the store is closed")

// folder returns the open folder. If create is set, it makes the folder if needed.
func (s *Store) folder(create bool) (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if s.root != nil {
		return s.root, nil
	}
	if create {
		if err := makeFolder(s.dir); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w (hint: check the name, or create the store with candor fleet setup file:%s)", err, s.dir)
	}
	s.root = root
	return root, err
}

// makeFolder creates a folder durably.
func makeFolder(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	above, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(durable.SyncDir(above, "."), above.Close())
}

// begin checks what every call needs.
func (s *Store) begin(ctx context.Context, chain fleet.Chain, create bool) (*os.Root, error) {
	if err := checkName(chain); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, failed("using", chain, err)
	}
	root, err := s.folder(create)
	if err != nil {
		return nil, failed("opening the store for", chain, err)
	}
	return root, nil
}

// checkName also refuses the names of the other things in a ledger folder.
func checkName(chain fleet.Chain) error {
	if err := chain.Check(); err != nil {
		return err
	}
	if strings.EqualFold(chain.Name, "keys") || strings.EqualFold(chain.Name, "lock") {
		return candor.New(candor.CodeInvalidArguments, fmt.Sprintf("a folder cannot hold a chain named %q", chain.Name))
	}
	return nil
}

// failed returns an error of the file system as a candor error. A [*fleet.ConflictError] and errors that have a code stay.
func failed(doing string, chain fleet.Chain, err error) error {
	var coded *candor.Error
	var conflict *fleet.ConflictError
	if err == nil || errors.As(err, &coded) || errors.As(err, &conflict) {
		return err
	}
	code := candor.CodeUnavailable
	switch {
	case errors.Is(err, context.Canceled):
		code = candor.CodeCancelled
	case errors.Is(err, context.DeadlineExceeded):
		code = candor.CodeTimeout
	case errors.Is(err, fs.ErrPermission):
		code = candor.CodePermissionDenied
	case errors.Is(err, fs.ErrNotExist):
		code = candor.CodeNotFound
	case oserror.IsFull(err):
		code = candor.CodeDiskFull
	}
	if chain != (fleet.Chain{}) {
		doing += " chain " + chain.String()
	}
	err = fmt.Errorf("%s: %w", doing, err)
	return candor.New(code, err.Error(), candor.WithCause(err), candor.WithOrigin(candor.PartyServer, false))
}

// Close implements [fleet.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	close(s.done)
	if s.root == nil {
		return nil
	}
	return s.root.Close()
}

// Durability implements [fleet.Store].
func (s *Store) Durability(context.Context) (fleet.Durability, error) {
	return fleet.Durability{
		Replicas: 1, Synced: true,
		Gap: fleet.Wrong("a folder is one copy on one disk", "use a cluster of at least three machines, such as nats://, or acknowledge with ack=local"),
	}, nil
}

// Setup implements [fleet.Store]: it creates the folder.
func (s *Store) Setup(_ context.Context, o fleet.SetupOptions) error {
	if o.Replicas > 1 || o.MaxBytes > 0 {
		return candor.New(candor.CodeUnsupported, "a folder has one replica and no limits; use a quota of the file system")
	}
	if _, err := s.folder(true); err != nil {
		return failed("making the store", fleet.Chain{}, err)
	}
	return nil
}

// Chains implements [fleet.Store].
func (s *Store) Chains(ctx context.Context) ([]fleet.Chain, error) {
	if err := ctx.Err(); err != nil {
		return nil, failed("listing the chains", fleet.Chain{}, err)
	}
	root, err := s.folder(false)
	if err != nil {
		return nil, failed("listing the chains", fleet.Chain{}, err)
	}
	nodes, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, failed("listing the chains", fleet.Chain{}, err)
	}
	var list []fleet.Chain
	for _, node := range nodes {
		if !node.IsDir() || !fleet.ValidNode(node.Name()) {
			continue
		}
		if list, err = appendChains(root, node.Name(), list); err != nil {
			return nil, failed("listing the chains of "+node.Name(), fleet.Chain{}, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, failed("listing the chains", fleet.Chain{}, err)
		}
	}
	slices.SortFunc(list, func(a, b fleet.Chain) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name)) })
	return list, nil
}

// appendChains appends the chains of a node that have at least one line.
func appendChains(root *os.Root, node string, list []fleet.Chain) ([]fleet.Chain, error) {
	items, err := fs.ReadDir(root.FS(), node)
	if err != nil {
		return list, err
	}
	for _, item := range items {
		chain := fleet.Chain{Node: node, Name: item.Name()}
		if !item.IsDir() || checkName(chain) != nil {
			continue
		}
		files, err := segments(root, chain)
		if err != nil {
			return list, err
		}
		if len(files.closed) > 0 || files.active != nil && files.active.Size() > 0 {
			list = append(list, chain)
		}
	}
	return list, nil
}

// Grant implements [fleet.Store].
func (s *Store) Grant(node string) (string, error) {
	if !fleet.ValidNode(node) {
		return "", candor.New(candor.CodeInvalidArguments, fmt.Sprintf("%q is not the name of a node", node))
	}
	dir := filepath.Join(s.dir, node)
	return fmt.Sprintf(`# Each node runs as its own user, here candor-%[1]s. The store itself belongs to the operator.
install -d -m 0711 %[2]q
install -d -m 0700 -o candor-%[1]s %[3]q
`, node, s.dir, dir), nil
}

// CheckRights implements [fleet.Store]. It makes a file with a random name in each folder it asks about, and removes it.
func (s *Store) CheckRights(ctx context.Context, node string) ([]fleet.RightCheck, error) {
	if !fleet.ValidNode(node) {
		return nil, candor.New(candor.CodeInvalidArguments, fmt.Sprintf("%q is not the name of a node", node))
	}
	root, err := s.folder(false)
	if err != nil {
		return nil, failed("checking the rights of "+node, fleet.Chain{}, err)
	}
	own := node
	if _, err := root.Stat(node); errors.Is(err, fs.ErrNotExist) {
		own = "." // the first Append makes it
	}
	checks := []fleet.RightCheck{try(root, own, "append to a chain of its own", true)}
	others, err := fs.ReadDir(root.FS(), ".")
	if err != nil && !errors.Is(err, fs.ErrPermission) { // a node need not be able to list the others
		return nil, failed("checking the rights of "+node, fleet.Chain{}, err)
	}
	for _, other := range others {
		if other.Name() == node || !other.IsDir() || !fleet.ValidNode(other.Name()) || ctx.Err() != nil {
			continue
		}
		check := try(root, other.Name(), "change the chains of another node", false)
		if checks = append(checks, check); check.Allowed {
			break
		}
	}
	return checks, ctx.Err()
}

func try(root *os.Root, dir, what string, want bool) fleet.RightCheck {
	name := fmt.Sprintf("%s/.rights-%d.tmp", dir, time.Now().UnixNano())
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	check := fleet.RightCheck{What: what, Allowed: err == nil, Want: want, Detail: "folder " + dir}
	if err == nil {
		if err := errors.Join(f.Close(), root.Remove(name)); err != nil {
			check.Detail = err.Error()
		}
	}
	return check
}
