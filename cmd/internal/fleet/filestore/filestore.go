// Package filestore keeps the record of a fleet in a folder, which many processes of one machine, or of machines that share a file system
// with working locks, may write.
//
// DIR/NODE is a ledger folder as spec/ledger.md describes it, without private keys: the same segments, byte for byte. So all commands that
// read a ledger read a node's copy too.
package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/oserror"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
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
		return "", fmt.Errorf("the URL of a folder does not take the parameter %q", strings.Join(slices.Sorted(maps.Keys(u.Query())), ", "))
	case u.Host != "" && u.Host != "localhost":
		return "", fmt.Errorf("file://%s: a folder is on this machine (hint: file:DIR, or file:///DIR)", u.Host)
	case u.Opaque != "":
		return url.PathUnescape(u.Opaque)
	case u.Path == "":
		return "", errors.New("file: missing folder (hint: file:DIR)")
	case runtime.GOOS == "windows":
		return strings.TrimPrefix(u.Path, "/"), nil
	}
	return u.Path, nil
}

// Store is a store in a folder.
type Store struct {
	dir string

	mu     sync.Mutex
	root   *os.Root // nil until the folder is used
	chains map[fleet.Chain]*chainState
	read   map[fleet.Chain]chainEnd // where Lines has reached the end of a chain
	closed bool
}

var _ fleet.Store = (*Store)(nil)

// Open returns the store in a folder. The folder is created by the first Append, or by Setup.
func Open(dir string) *Store {
	return &Store{dir: dir, chains: map[fleet.Chain]*chainState{}, read: map[fleet.Chain]chainEnd{}}
}

// folder returns the open folder. If create is set, it makes the folder if needed.
func (s *Store) folder(create bool) (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the store is closed")
	}
	if s.root != nil {
		return s.root, nil
	}
	if create {
		if err := durable.MkdirAll(s.dir); err != nil {
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

// begin checks what every call needs.
func (s *Store) begin(ctx context.Context, chain fleet.Chain, create bool) (*os.Root, error) {
	if err := checkName(chain); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, failed("using", chain, err)
	}
	root, err := s.folder(create)
	return root, failed("opening the store for", chain, err)
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
	case errors.Is(err, segment.ErrCorrupt), errors.Is(err, segment.ErrTorn):
		code = candor.CodeDataCorrupt
	case oserror.IsFull(err):
		code = candor.CodeDiskFull
	}
	if chain != (fleet.Chain{}) {
		doing += " chain " + chain.String()
	}
	return fleet.Fault(code, fmt.Errorf("%s: %w", doing, err))
}

// Close implements [fleet.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.root == nil {
		s.closed = true
		return nil
	}
	s.closed = true
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
	_, err := s.folder(true)
	return failed("making the store", fleet.Chain{}, err)
}

// Chains implements [fleet.Store].
func (s *Store) Chains(ctx context.Context) ([]fleet.Chain, error) {
	list, err := s.list(ctx)
	slices.SortFunc(list, fleet.Chain.Compare)
	return list, failed("listing the chains", fleet.Chain{}, err)
}

// list returns the chains that have at least one line.
func (s *Store) list(ctx context.Context) (list []fleet.Chain, err error) {
	root, err := s.folder(false)
	if err != nil {
		return nil, err
	}
	nodes, err := fs.ReadDir(root.FS(), ".")
	for _, node := range nodes {
		if !node.IsDir() || !fleet.ValidNode(node.Name()) {
			continue
		}
		items, err := fs.ReadDir(root.FS(), node.Name())
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		for _, item := range items {
			chain := fleet.Chain{Node: node.Name(), Name: item.Name()}
			if !item.IsDir() || checkName(chain) != nil {
				continue
			}
			files, err := segments(root, chain)
			if err != nil {
				return nil, err
			}
			if len(files.closed) > 0 || files.active != nil && files.active.Size() > 0 {
				list = append(list, chain)
			}
		}
	}
	return list, errors.Join(err, ctx.Err())
}

func folder(chain fleet.Chain) string { return chain.Node + "/" + chain.Name }

func activeName(chain fleet.Chain) string { return folder(chain) + "/" + format.ActiveSegment }

// segmentFiles are the files of a chain.
type segmentFiles struct {
	closed []segment.File // by number
	active os.FileInfo    // nil if there is none
}

// segments lists the segments of a chain.
func segments(root *os.Root, chain fleet.Chain) (segmentFiles, error) {
	items, err := fs.ReadDir(root.FS(), folder(chain))
	if err != nil {
		return segmentFiles{}, err
	}
	files := segmentFiles{closed: segment.Among(items, folder(chain))}
	files.active, err = root.Stat(activeName(chain))
	if errors.Is(err, fs.ErrNotExist) {
		files.active, err = nil, nil
	}
	return files, err
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
