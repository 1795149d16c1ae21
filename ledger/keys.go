package ledger

import (
	"errors"

	"github.com/candor-mcp/candor/internal/storage"
	"github.com/candor-mcp/candor/ledger/internal/keys"
)

// PublicKeys returns the verifier lines of a ledger folder: the current key first, then the keys that it replaced.
func PublicKeys(dir string) ([]string, error) {
	s, err := storage.Open(dir)
	if err != nil {
		return nil, err
	}
	lines, err := keys.Public(s)
	return lines, errors.Join(err, s.Close())
}

// RotateKey replaces the signing key of a ledger folder and returns the new public key. The old public key is kept in
// keys/old; the old private key is deleted. Open ledgers continue to sign with the old key until they are opened
// again.
func RotateKey(dir string) (string, error) {
	s, err := storage.Open(dir)
	if err != nil {
		return "", err
	}
	unlock, err := lockFolder(s, defaultLockWait)
	if err != nil {
		return "", errors.Join(err, s.Close())
	}
	public, err := keys.Rotate(s)
	return public, errors.Join(err, unlock(), s.Close())
}

// openKeys reads or creates the keys under the folder's lock, so that two processes that open a new folder do not
// create different keys.
func openKeys(o *Options) (keys.Keys, error) {
	unlock, err := lockFolder(o.storage, o.LockWait)
	if err != nil {
		return keys.Keys{}, err
	}
	k, err := keys.Load(o.storage)
	return k, errors.Join(err, unlock())
}
