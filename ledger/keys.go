package ledger

import (
	"errors"

	"github.com/candor-mcp/candor/ledger/internal/keys"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// PublicKeys returns the verifier lines of a ledger folder, the current one first, then those it replaced.
func PublicKeys(dir string) ([]string, error) {
	s, err := storage.Open(dir)
	if err != nil {
		return nil, err
	}
	lines, err := keys.Public(s)
	return lines, errors.Join(err, s.Close())
}

// RotateKey replaces the signing key of a ledger folder and returns the new public key. The old public key stays, in keys/old; the old
// secret is gone. Writers that are open go on with the key they have until they are opened again.
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

// openKeys reads or makes the keys under the folder's lock, so that two first users do not make two.
func openKeys(o *Options) (keys.Keys, error) {
	unlock, err := lockFolder(o.storage, o.LockWait)
	if err != nil {
		return keys.Keys{}, err
	}
	k, err := keys.Load(o.storage)
	return k, errors.Join(err, unlock())
}
